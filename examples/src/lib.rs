//! Examples live beside this file, one program per idea.
