//! The table of results: target, measured value, and whether the target is met.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use std::fmt::Display;

/// The target for a value.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
    /// The value is reported without a target.
    Reported,
}

/// The rows so far.
#[derive(Debug, Default)]
pub struct Report {
    rows: Vec<[String; 4]>,
}

impl Report {
    /// Adds a value in its unit, printed with the given number of decimal places.
    pub fn value(
        &mut self,
        what: impl Display,
        aim: Goal,
        value: f64,
        (digits, unit): (usize, &str),
    ) {
        let shown = |value: f64| format!("{value:.digits$} {unit}").trim_end().to_owned();
        let (wanted, is_met) = match aim {
            Goal::AtMost(most) => (format!("≤ {}", plain(most, unit)), Some(value <= most)),
            Goal::AtLeast(least) => (format!("≥ {}", plain(least, unit)), Some(value >= least)),
            Goal::Reported => (String::new(), None),
        };
        let verdict = is_met.map_or("", verdict);
        self.row([what.to_string(), wanted, shown(value), verdict.to_owned()]);
    }

    /// Adds a condition, and whether it is met.
    pub fn fact(&mut self, what: impl Display, aim: &str, is_so: bool, measured: impl Display) {
        let verdict = verdict(is_so).to_owned();
        self.row([
            what.to_string(),
            aim.to_owned(),
            measured.to_string(),
            verdict,
        ]);
    }

    /// Adds a row. Also prints it immediately, because a run takes a minute or two.
    fn row(&mut self, row: [String; 4]) {
        eprintln!("  {}: {}", row[0], row[2]);
        self.rows.push(row);
    }

    /// Prints the table on standard output.
    #[expect(clippy::print_stdout, reason = "the table is the result")]
    pub fn print(&self) {
        let mut table = Table::new();
        table
            .load_style(presets::UTF8_FULL_CONDENSED)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(["measured", "aim", "value", ""]);
        table.add_rows(&self.rows);
        if let Some(column) = table.column_mut(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        println!("{table}");
    }
}

const fn verdict(is_met: bool) -> &'static str {
    if is_met { "ok" } else { "missed" }
}

fn plain(value: f64, unit: &str) -> String {
    format!("{value} {unit}").trim_end().to_owned()
}
