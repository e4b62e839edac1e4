//! Reads the metrics in the text format that the recorder of this process renders (Prometheus, version 0.0.4).

use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// A metric with the points of all its labels.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) name: String,
    pub(super) help: String,
    pub(super) kind: Kind,
    pub(super) points: Vec<Point>,
}

/// One combination of labels.
#[derive(Debug, Default)]
pub(super) struct Point {
    pub(super) labels: Vec<(String, String)>,
    pub(super) value: f64,
    /// The upper bounds of a histogram except infinity, each with the number of values up to the bound.
    buckets: Vec<(f64, u64)>,
    pub(super) sum: f64,
    pub(super) count: u64,
}

impl Point {
    pub(super) fn bounds(&self) -> Vec<f64> {
        self.buckets.iter().map(|(bound, _)| *bound).collect()
    }

    /// Returns the number of values in each bucket. The last bucket has no upper bound.
    pub(super) fn bucket_counts(&self) -> Vec<u64> {
        let mut before = 0;
        let totals = self
            .buckets
            .iter()
            .map(|(_, total)| *total)
            .chain([self.count]);
        totals
            .map(|total| total.saturating_sub(std::mem::replace(&mut before, total)))
            .collect()
    }
}

/// Parses the text. Skips summaries and lines that cannot be parsed.
pub(super) fn read(text: &str) -> Vec<Family> {
    let mut helps: BTreeMap<&str, &str> = BTreeMap::new();
    let mut families: Vec<Family> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            helps.extend(rest.split_once(' '));
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let Some((name, kind)) = rest.split_once(' ') else {
                continue;
            };
            let kind = match kind {
                "counter" => Kind::Counter,
                "gauge" => Kind::Gauge,
                "histogram" => Kind::Histogram,
                _ => continue,
            };
            families.push(Family {
                name: name.to_owned(),
                help: helps.get(name).copied().unwrap_or_default().to_owned(),
                kind,
                points: Vec::new(),
            });
        } else if let (Some(sample), Some(family)) = (Sample::read(line), families.last_mut()) {
            family.add(sample);
        }
    }
    families.retain(|family| !family.points.is_empty());
    families
}

struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Sample {
    fn read(line: &str) -> Option<Self> {
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (name, labels, value) = if let Some((name, rest)) = line.split_once('{') {
            let (labels, value) = labels(rest)?;
            (name, labels, value)
        } else {
            let (name, value) = line.split_once(' ')?;
            (name, Vec::new(), value)
        };
        let value = value.split_whitespace().next()?.parse().ok()?;
        Some(Self {
            name: name.to_owned(),
            labels,
            value,
        })
    }
}

/// Parses labels up to the closing brace. Also returns the rest of the text.
fn labels(mut rest: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(after) = rest.strip_prefix('}') {
            return Some((labels, after));
        }
        let (name, after) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut chars = after.chars();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => match chars.next()? {
                    'n' => value.push('\n'),
                    other => value.push(other),
                },
                other => value.push(other),
            }
        }
        labels.push((name.to_owned(), value));
        rest = chars.as_str();
    }
}

impl Family {
    fn add(&mut self, mut sample: Sample) {
        if self.kind != Kind::Histogram {
            if sample.name == self.name {
                self.points.push(Point {
                    labels: sample.labels,
                    value: sample.value,
                    ..Point::default()
                });
            }
            return;
        }
        let Some(part) = sample.name.strip_prefix(&self.name) else {
            return;
        };
        let part = part.to_owned();
        let bound = sample.labels.iter().position(|(name, _)| name == "le");
        let bound = bound.map(|at| sample.labels.remove(at).1);
        let known = self.points.iter().position(|it| it.labels == sample.labels);
        let at = known.unwrap_or_else(|| {
            self.points.push(Point {
                labels: sample.labels,
                ..Point::default()
            });
            self.points.len() - 1
        });
        let Some(point) = self.points.get_mut(at) else {
            return;
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count, which is a whole number that is not negative"
        )]
        let count = sample.value as u64;
        match (part.as_str(), bound.as_deref().map(str::parse::<f64>)) {
            ("_bucket", Some(Ok(bound))) if bound.is_finite() => point.buckets.push((bound, count)),
            ("_sum", _) => point.sum = sample.value,
            ("_count", _) => point.count = count,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_the_recorder_is_read() {
        let text = "# HELP a_total What it counts.\n# TYPE a_total counter\n\
                    a_total{route=\"/x{id}\",why=\"a \\\"b\\\"\\n\"} 3\na_total 1\n\n\
                    # TYPE b gauge\nb -1.5\n\n# TYPE s summary\ns{quantile=\"0.5\"} 1\n\n\
                    # TYPE h histogram\nh_bucket{x=\"1\",le=\"0.5\"} 2\nh_bucket{x=\"1\",le=\"1\"} 3\n\
                    h_bucket{x=\"1\",le=\"+Inf\"} 5\nh_sum{x=\"1\"} 9.5\nh_count{x=\"1\"} 5\n";
        let families = read(text);
        let names: Vec<_> = families
            .iter()
            .map(|it| (it.name.as_str(), it.kind))
            .collect();
        assert_eq!(
            names,
            [
                ("a_total", Kind::Counter),
                ("b", Kind::Gauge),
                ("h", Kind::Histogram)
            ]
        );
        assert_eq!(families[0].help, "What it counts.");
        let labels = &families[0].points[0].labels;
        assert_eq!(labels[0], ("route".to_owned(), "/x{id}".to_owned()));
        assert_eq!(labels[1].1, "a \"b\"\n");
        let point = &families[2].points[0];
        assert_eq!(point.labels, [("x".to_owned(), "1".to_owned())]);
        assert_eq!(point.bounds(), [0.5, 1.0]);
        assert_eq!(point.bucket_counts(), [2, 1, 2]);
        assert_eq!((point.count, families[1].points[0].value), (5, -1.5));
    }
}
