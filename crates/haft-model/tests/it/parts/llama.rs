//! A small real model behind another server, on its three wires.
