//! Reads what Flow prints for as long as it prints, and keeps the beginning and the end of it.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Kept from each end of a stream, in bytes.
pub const KEPT: usize = 128 << 10;
const CUT: &[u8] = b"\n[... the middle was left out ...]\n";

/// A stream that is being read by a thread of its own.
pub struct Drain {
    kept: Arc<Mutex<Ends>>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: bool,
}

impl Drain {
    pub fn start(mut stream: impl Read + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Ends::default()));
        let shared = Arc::clone(&kept);
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                shared.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count]);
            }
        });
        Self { kept, thread }
    }

    /// What was printed. A process that outlives Flow may hold the stream open, so this doesn't wait past the deadline.
    pub fn finish(self, deadline: Instant) -> Vec<u8> {
        while !self.thread.is_finished() && Instant::now() < deadline {
            std::thread::park_timeout(Duration::from_millis(2));
        }
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).joined()
    }
}

impl Ends {
    fn push(&mut self, bytes: &[u8]) {
        let to_head = bytes.len().min(KEPT - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        self.tail.extend(&bytes[to_head..]);
        if self.tail.len() > KEPT {
            self.left_out = true;
            self.tail.drain(..self.tail.len() - KEPT);
        }
    }

    fn joined(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        if self.left_out {
            bytes.extend_from_slice(CUT);
        }
        bytes.extend(&self.tail);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drained(bytes: Vec<u8>) -> Vec<u8> {
        Drain::start(std::io::Cursor::new(bytes)).finish(Instant::now() + Duration::from_secs(60))
    }

    #[test]
    fn a_short_stream_is_kept_whole() {
        assert_eq!(drained(b"one\ntwo".to_vec()), b"one\ntwo");
        let both_ends = vec![b'x'; 2 * KEPT];
        assert_eq!(drained(both_ends.clone()), both_ends);
    }

    #[test]
    fn a_long_stream_keeps_both_ends_and_says_that_the_middle_is_gone() {
        let mut bytes = vec![b'a'; KEPT];
        bytes.extend(vec![b'b'; 5 * KEPT]);
        bytes.extend(vec![b'c'; KEPT]);
        let kept = drained(bytes);
        assert_eq!(kept.len(), 2 * KEPT + CUT.len());
        assert!(kept.starts_with(b"aaa") && kept.ends_with(b"ccc") && !kept.contains(&b'x'));
    }
}
