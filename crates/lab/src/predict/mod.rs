//! `lab predict`: what other machines would do, by a model of the logging path and the constants that this machine measures.

pub mod model;
