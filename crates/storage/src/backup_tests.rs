//! Copies of pages.
