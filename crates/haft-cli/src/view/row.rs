//! One row in the live view: a bar with a call's name, id, stage and last message.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use unicode_width::UnicodeWidthStr;

use super::ViewedCall;
use super::stage::{CallEnd, CallStage};
use crate::terminal::fit;

/// The time between two spinner frames.
const TICK: Duration = Duration::from_millis(100);

/// A bar's steps.
const STEPS: u64 = 1000;

/// The terminal width from which bars are long.
const WIDE: usize = 70;

/// The column widths, which are the same in all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowLayout {
    tool: usize,
    id: usize,
    bar: usize,
}

impl RowLayout {
    /// Returns the layout of these tools and ids for a terminal: they get half its width, the stage gets the rest.
    pub(super) fn new<'a>(width: usize, calls: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let (tool, id) =
            calls.fold((0, 0), |widest, (tool, id)| (widest.0.max(tool.width()), widest.1.max(id.width())));
        let bar = if width < WIDE { 8 } else { 20 };
        Self { tool: tool.min(width / 3), id: id.min(width / 6), bar }
    }

    /// Brings a bar up to date.
    pub(super) fn show(self, bar: &ProgressBar, call: &ViewedCall) {
        match &call.stage {
            CallStage::Running { fraction, message } => {
                if bar.is_finished() || bar.length() != Some(STEPS) {
                    bar.set_length(STEPS);
                    bar.reset_elapsed();
                    bar.enable_steady_tick(TICK);
                }
                bar.set_style(self.running(*fraction));
                bar.set_prefix(self.prefix(call));
                if let Some(fraction) = fraction {
                    bar.set_position(steps(*fraction));
                }
                bar.set_message(message.clone());
            }
            stage => {
                bar.disable_steady_tick();
                bar.set_style(still(stage));
                bar.set_prefix(self.prefix(call));
                bar.set_message(stage_text(stage, call.took));
                bar.tick();
            }
        }
    }

    fn prefix(self, call: &ViewedCall) -> String {
        format!("{} {}", fit(&call.tool, self.tool), fit(&call.id, self.id))
    }

    /// Returns the style for a running call.
    fn running(self, fraction: Option<f64>) -> ProgressStyle {
        let template = match fraction {
            None => "{spinner:.cyan} {prefix} {elapsed:>4} {wide_msg}".to_owned(),
            Some(_) => {
                format!(
                    "{{spinner:.cyan}} {{prefix}} {{elapsed:>4}} {{bar:{}.cyan/dim}} {{percent:>3}}% {{wide_msg}}",
                    self.bar
                )
            }
        };
        style(&template).progress_chars("━╸─")
    }
}

/// Returns the row that counts the calls without one.
pub(super) fn tail_bar() -> ProgressBar {
    ProgressBar::new_spinner().with_style(style("  {wide_msg:.dim}"))
}

/// Returns the style for a call that does not run.
fn still(stage: &CallStage) -> ProgressStyle {
    style(match stage {
        CallStage::Queued | CallStage::Running { .. } => "{prefix:.dim} {wide_msg:.dim}",
        CallStage::Finished(CallEnd::Done) => "{prefix} {wide_msg:.green}",
        CallStage::WaitsForApproval
        | CallStage::Suspended
        | CallStage::Finished(CallEnd::Denied | CallEnd::Cancelled) => "{prefix} {wide_msg:.yellow}",
        CallStage::Finished(CallEnd::Failed | CallEnd::Rejected) => "{prefix} {wide_msg:.red}",
    })
}

/// Returns a time as people read it.
pub(super) fn time_text(time: Duration) -> String {
    // Rounded first, or a time just below a minute would be `60.0 s`.
    let (millis, tenths) = (time.as_millis(), (time.as_millis() + 50) / 100);
    let seconds = time.as_secs().max(60);
    match tenths {
        _ if millis < 1000 => format!("{millis} ms"),
        0..600 => format!("{}.{} s", tenths / 10, tenths % 10),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

fn stage_text(stage: &CallStage, took: Option<Duration>) -> String {
    match stage {
        CallStage::Queued => "waiting".to_owned(),
        CallStage::WaitsForApproval => "waiting for approval".to_owned(),
        CallStage::Running { message, .. } => message.clone(),
        CallStage::Suspended => "suspended until it is approved".to_owned(),
        CallStage::Finished(end) => match took {
            Some(took) => format!("{} in {}", end.as_str(), time_text(took)),
            None => end.as_str().to_owned(),
        },
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction is between 0 and 1")]
fn steps(fraction: f64) -> u64 {
    (fraction * 1000.0) as u64
}

/// Returns a template's style. All templates are written in this file, so an invalid one fails the tests.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_before_their_unit_is_chosen() {
        for (millis, text) in [
            (0, "0 ms"),
            (949, "949 ms"),
            (999, "999 ms"),
            (1_234, "1.2 s"),
            (1_250, "1.3 s"),
            (59_940, "59.9 s"),
            (59_970, "1 min 0 s"),
            (61_900, "1 min 1 s"),
        ] {
            assert_eq!(time_text(Duration::from_millis(millis)), text, "{millis}");
        }
    }
}
