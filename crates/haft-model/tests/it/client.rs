//! Clients of models, over sockets.
