//! Tables for people, as wide as the terminal.

use comfy_table::{Attribute, Cell, ContentArrangement, Table, presets};

use crate::terminal::printable;

/// Creates a table with these columns, and without lines.
pub(crate) fn table(width: usize, columns: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(columns.iter().map(|column| Cell::new(column).add_attribute(Attribute::Bold)));
    table
}

/// Returns the cell of a text that somebody else may have written.
pub(crate) fn cell(text: &str) -> Cell {
    Cell::new(printable(text))
}

/// Returns a table as text, without the spaces at the ends of its lines.
pub(crate) fn rendered(table: &Table) -> String {
    table.trim_fmt()
}
