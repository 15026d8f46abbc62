//! Backups and restores on the simulated disk.
