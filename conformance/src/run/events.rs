//! What the runner tells its readers, as it happens. Every report is made from these and nothing else.
