//! The model seam, its stand-ins and the turn loop, seen from outside.

mod cassette;
mod model_seam;
mod scripted;
mod turn_loop;
