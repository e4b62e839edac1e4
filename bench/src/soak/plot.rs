//! Draws time series as an SVG with stacked panels.

use std::fmt::Write as _;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 150.0;
const PANEL: f64 = 130.0;
const GAP: f64 = 34.0;
const COLOURS: [&str; 4] = ["#0b63c5", "#c54a0b", "#2a8a3e", "#7a3fb0"];

/// Time series that share a scale.
pub struct Panel<'a> {
    /// The quantity and its unit.
    pub title: &'a str,
    /// A name, and a value for each moment.
    pub lines: Vec<(&'a str, Vec<f64>)>,
}

/// Draws the panels. `minutes` contains the moments.
pub fn draw(title: &str, minutes: &[f64], panels: &[Panel<'_>]) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a handful of panels")]
    let height = 40.0 + (PANEL + GAP) * panels.len() as f64 + 20.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" \
         fill=\"#fff\"/>\n<text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{}</text>\n",
        escape(title)
    );
    let mut top = 56.0;
    for panel in panels {
        draw_panel(&mut svg, minutes, panel, top);
        top += PANEL + GAP;
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_panel(svg: &mut String, minutes: &[f64], panel: &Panel<'_>, top: f64) {
    let span = minutes
        .last()
        .copied()
        .unwrap_or(1.0)
        .max(f64::MIN_POSITIVE);
    let all = panel.lines.iter().flat_map(|(_, values)| values);
    let most = all.copied().fold(0.0, f64::max);
    let scale = ceiling(most);
    let (right, bottom) = (WIDTH - RIGHT, top + PANEL);
    // Writing to a string does not fail.
    let _ = write!(
        svg,
        "<text x=\"{LEFT}\" y=\"{}\" fill=\"#444\">{}</text>\n\
         <path d=\"M{LEFT} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"#888\"/>\n\
         <path d=\"M{LEFT} {top}H{right}\" fill=\"none\" stroke=\"#ddd\"/>\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{scale}</text>\n\
         <text x=\"{}\" y=\"{bottom}\" text-anchor=\"end\">0</text>\n\
         <text x=\"{right}\" y=\"{}\" text-anchor=\"end\">{span:.0} min</text>\n",
        top - 6.0,
        escape(panel.title),
        LEFT - 6.0,
        top + 8.0,
        LEFT - 6.0,
        bottom + 14.0,
    );
    let mut label_at = top + 10.0;
    for ((name, values), colour) in panel.lines.iter().zip(COLOURS) {
        let mut path = String::new();
        for (minute, value) in minutes.iter().zip(values) {
            let x = LEFT + (right - LEFT) * minute / span;
            let y = bottom - PANEL * value / scale;
            let step = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{step}{x:.1} {y:.1}");
        }
        let last = values.last().copied().unwrap_or_default();
        let _ = write!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n\
             <text x=\"{}\" y=\"{label_at}\" fill=\"{colour}\">{} {last:.1}</text>\n",
            right + 8.0,
            escape(name)
        );
        label_at += 16.0;
    }
}

/// Returns the smallest of 1, 2, 5, 10, … that is not below the value.
fn ceiling(most: f64) -> f64 {
    let mut power = 0.001;
    while power < most {
        for step in [1.0, 2.0, 5.0] {
            if power * step >= most {
                return power * step;
            }
        }
        power *= 10.0;
    }
    power
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_covers_its_values() {
        for (most, scale) in [(0.0, 0.001), (3.0, 5.0), (5.0, 5.0), (51.0, 100.0)] {
            assert!(
                (ceiling(most) - scale).abs() < 1e-9,
                "{most}: {}",
                ceiling(most)
            );
        }
    }

    #[test]
    fn a_plot_has_a_line_for_each_series() {
        let panel = Panel {
            title: "memory, MiB",
            lines: vec![("a < b", vec![1.0, 2.0]), ("c", vec![2.0, 1.0])],
        };
        let svg = draw("soak", &[0.0, 1.0], &[panel]);
        assert_eq!(svg.matches("stroke-width=\"1.5\"").count(), 2);
        assert!(svg.contains("a &lt; b 2.0") && !svg.contains("NaN"));
    }
}
