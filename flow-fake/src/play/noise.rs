//! Output that nobody asked for.

use std::sync::mpsc;
use std::thread;

use crate::output;
use crate::script::{Noise, NoiseKind};

const BLOCK: usize = 64 * 1024;
/// More than any pipe holds, so that a reader that doesn't drain holds Flow up.
const BEYOND_ANY_PIPE: u64 = 2 * 1024 * 1024;

/// Writes the noise. Endless noise goes on in the background, but only once more was taken than a pipe can hold.
pub fn make(noise: &Noise) {
    let block = block(noise.kind);
    let to = noise.to;
    let Some(bytes) = noise.bytes else {
        let (filled, wait) = mpsc::channel();
        thread::spawn(move || {
            let mut taken = 0;
            while output::write(to, &block) {
                taken += block.len() as u64;
                if taken >= BEYOND_ANY_PIPE {
                    let _ = filled.send(());
                }
            }
        });
        let _ = wait.recv();
        return;
    };
    let mut left = bytes;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        if !output::write(to, &block[..length]) {
            return;
        }
        left -= length as u64;
    }
}

fn block(kind: NoiseKind) -> Vec<u8> {
    match kind {
        NoiseKind::Newlines => vec![b'\n'; BLOCK],
        NoiseKind::Text => b"noise that means nothing, sixty-four bytes of it in every line.\n".repeat(BLOCK / 64),
        NoiseKind::Binary => {
            (0..BLOCK as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect()
        }
    }
}
