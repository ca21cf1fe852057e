//! Values of a type, and one corrected answer, on all wires.
