//! The model seam, its stand-ins and the turn loop, seen from outside.

mod model_seam;
