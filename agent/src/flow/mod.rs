//! Flow as the agent meets it: its command line, the files it leaves and the digests it binds them with.

pub mod canonical;
