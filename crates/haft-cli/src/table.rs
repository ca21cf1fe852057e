//! Tables for people, as wide as the terminal.

use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, Row, Table, presets};

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

/// Adds a single-line row. Only its last cell is shortened if it is too long.
pub(crate) fn add_line(table: &mut Table, cells: Vec<Cell>) {
    let last = cells.len().saturating_sub(1);
    let mut row = Row::from(cells);
    row.max_height(1);
    table.add_row(row);
    for column in table.column_iter_mut().take(last) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
}

/// Returns the cell for a text that somebody else may have written.
pub(crate) fn cell(text: &str) -> Cell {
    Cell::new(printable(text))
}

/// Returns a table as text, without trailing spaces.
pub(crate) fn rendered(table: &Table) -> String {
    table.trim_fmt()
}
