//! Code spans: matches runs of backticks, and holds markers back until the match is known.

use super::marker::Marker;
use super::output::Output;
use std::collections::{HashMap, VecDeque};

/// A run of backticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) length: usize,
    /// If the run opens a span, a preceding backslash excludes its first backtick.
    pub(super) is_escaped: bool,
}

impl Run {
    const fn as_opener(self) -> usize {
        if self.is_escaped {
            self.length - 1
        } else {
            self.length
        }
    }
}

/// A held-back item.
#[derive(Debug)]
pub(super) enum Item {
    Text(String),
    /// Only the length; the backticks themselves are in the adjacent text.
    Run(Run),
    Marker(Marker, String),
}

/// The open span, if any.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// The length of the run that closes the span.
    open: Option<usize>,
    /// The runs since the opening one, and everything else from the first marker on.
    items: Vec<Item>,
    is_holding: bool,
    /// A run that began this line. It is a fence if no other run follows on the line.
    fence: Option<FenceLine>,
}

/// The state when a line began with a run.
#[derive(Clone, Copy, Debug)]
struct FenceLine {
    run: Run,
    /// The number of items at that time.
    items: usize,
    was_holding: bool,
}

impl Spans {
    pub(super) fn text(&mut self, character: char, output: &mut Output) {
        if !self.is_holding {
            output.text(character);
            return;
        }
        // Keep the text of a possible fence line separate from the text before it.
        let is_cut = self
            .fence
            .is_some_and(|fence| fence.items == self.items.len());
        match self.items.last_mut() {
            Some(Item::Text(text)) if !is_cut => text.push(character),
            _ => self.items.push(Item::Text(character.to_string())),
        }
    }

    pub(super) fn marker(&mut self, marker: Marker, raw: String, output: &mut Output) {
        if self.open.is_none() && self.fence.is_none() {
            output.marker(marker);
            return;
        }
        self.is_holding = true;
        self.items.push(Item::Marker(marker, raw));
    }

    pub(super) fn run(&mut self, run: Run, output: &mut Output) {
        match self.open {
            Some(length) if length == run.length => {
                self.open = None;
                self.is_holding = false;
                for item in std::mem::take(&mut self.items) {
                    as_code(item, output);
                }
            }
            Some(_) => self.items.push(Item::Run(run)),
            None => self.open = Some(run.as_opener()).filter(|length| *length > 0),
        }
    }

    /// Records that a run which may be a fence began a line.
    pub(super) fn fence_line(&mut self, run: Run) {
        self.fence = Some(FenceLine {
            run,
            items: self.items.len(),
            was_holding: self.is_holding,
        });
    }

    /// Another backtick on the line shows that it is not a fence.
    pub(super) fn no_fence_line(&mut self, output: &mut Output) {
        let Some(fence) = self.fence.take() else {
            return;
        };
        let behind = self.items.split_off(fence.items.min(self.items.len()));
        self.is_holding = fence.was_holding;
        self.run(fence.run, output);
        for item in behind {
            match item {
                Item::Text(text) => text.chars().for_each(|c| self.text(c, output)),
                Item::Marker(marker, raw) => self.marker(marker, raw, output),
                Item::Run(run) => self.run(run, output),
            }
        }
    }

    /// Ends the line. Returns the length of the fence if the line was one.
    pub(super) fn end_of_fence_line(&mut self, output: &mut Output) -> Option<usize> {
        let fence = self.fence.take()?;
        let behind = self.items.split_off(fence.items.min(self.items.len()));
        self.end_of_paragraph(output);
        for item in behind {
            as_code(item, output);
        }
        Some(fence.run.length)
    }

    /// Treats the open span as text, and looks for spans after its first run.
    pub(super) fn end_of_paragraph(&mut self, output: &mut Output) {
        self.open = None;
        self.is_holding = false;
        let mut runs: HashMap<usize, VecDeque<usize>> = HashMap::new();
        for (at, item) in self.items.iter().enumerate() {
            if let Item::Run(run) = item {
                runs.entry(run.length).or_default().push_back(at);
            }
        }
        let mut code_until = None;
        for (at, item) in std::mem::take(&mut self.items).into_iter().enumerate() {
            if code_until.is_some_and(|end| at <= end) {
                as_code(item, output);
                continue;
            }
            match item {
                Item::Text(text) => text.chars().for_each(|c| output.text(c)),
                Item::Marker(marker, _) => output.marker(marker),
                Item::Run(run) => code_until = next_run(&mut runs, run.as_opener(), at),
            }
        }
    }
}

/// The index of the next run of this length after `at`.
fn next_run(runs: &mut HashMap<usize, VecDeque<usize>>, length: usize, at: usize) -> Option<usize> {
    let places = runs.get_mut(&length)?;
    while places.front().is_some_and(|place| *place <= at) {
        places.pop_front();
    }
    places.front().copied()
}

fn as_code(item: Item, output: &mut Output) {
    match item {
        Item::Text(text) | Item::Marker(_, text) => text.chars().for_each(|c| output.code(c)),
        Item::Run(_) => {}
    }
}
