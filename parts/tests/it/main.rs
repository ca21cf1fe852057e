//! Tests of the judges themselves: one that accepts everything proves nothing.

mod parts;
