//! What stays on disk about a run: records, the request index, the ledger of used requests, dispatch intents and locks.
//! Nothing here holds an input value, and nothing here starts anything.

pub mod clock;
pub mod dispatch;
pub mod files;
pub mod fingerprint;
pub mod index;
pub mod key;
pub mod ledger;
pub mod lock;
pub mod python_json;
pub mod record;
pub mod request_hash;
pub mod root;
pub mod server;
pub mod store;

pub use store::{RunStore, StoreError};
