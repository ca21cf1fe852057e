//! The server side: clients of both eras, on connections of lines and over HTTP, well-behaved and hostile.

mod asking;
mod calling;
mod line_client;
mod listing;
mod sdk;
mod web;
