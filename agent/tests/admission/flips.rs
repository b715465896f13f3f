//! Whatever byte of a valid pack, ledger or list is another one: nothing is ever admitted by it.

use proptest::prelude::*;

use crate::forge::{Forge, sample};
use crate::world::{World, bytes};

struct Valid {
    world: World,
    ledger: Vec<u8>,
    list: Vec<u8>,
    pack: Vec<u8>,
}

impl Valid {
    fn new() -> Self {
        let forge = Forge::new();
        let valid = Self {
            world: World::of(forge.root()),
            ledger: bytes(&forge.ledger()),
            list: bytes(&forge.workflows()),
            pack: bytes(&forge.pack()),
        };
        let status = valid.world.look(&valid.ledger, Some(&valid.list), Some(&valid.pack));
        assert_eq!((status.verdict, status.workflows[0].verdict), (Ok(()), Ok(())), "what is flipped was valid");
        valid
    }

    /// Neither the release nor the workflow, by this pack.
    fn refuses(&self, pack: &[u8]) -> bool {
        let status = self.world.look(&self.ledger, Some(&self.list), Some(pack));
        status.verdict.is_err() && status.workflows[0].verdict.is_err()
    }
}

fn flipped(bytes: &[u8], at: usize, with: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= with;
    bytes
}

#[test]
fn one_flipped_bit_anywhere_in_a_pack_is_never_admitted() {
    let valid = Valid::new();
    for at in (0..valid.pack.len()).step_by(41) {
        assert!(valid.refuses(&flipped(&valid.pack, at, 1 << (at % 8))), "byte {at}");
    }
}

#[test]
fn one_other_byte_in_the_white_space_of_the_sample_is_never_admitted() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/samples/admission/");
    let pack = std::fs::read(format!("{folder}10_pack__current__ok.json")).unwrap();
    let root = crate::samples::root();
    let world = World::of(root);
    let ledger = bytes(&sample("01_lifecycle__admitted_with_10_pack__alone_signature_unavailable"));
    assert_eq!(world.look(&ledger, None, Some(&pack)).verdict, Ok(()));
    let blanks: Vec<_> = (0..pack.len()).filter(|at| pack[*at].is_ascii_whitespace()).collect();
    assert!(blanks.len() > 20);
    for at in blanks {
        for blank in *b" \t\r\n" {
            let mut other = pack.clone();
            other[at] = blank;
            let verdict = world.look(&ledger, None, Some(&other)).verdict;
            assert_eq!(verdict.is_ok(), other == pack, "byte {at}");
        }
    }
}

#[test]
fn one_flipped_bit_in_a_ledger_never_changes_what_is_admitted() {
    let valid = Valid::new();
    let told = |ledger: &[u8]| {
        let status = valid.world.look(ledger, None, Some(&valid.pack));
        status.verdict.ok().map(|()| status.release)
    };
    let good = told(&valid.ledger);
    for at in (0..valid.ledger.len()).step_by(53) {
        let now = told(&flipped(&valid.ledger, at, 1 << (at % 7)));
        assert!(now.is_none() || now == good, "byte {at}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, ..ProptestConfig::default() })]

    #[test]
    fn any_other_byte_anywhere_in_a_pack_is_never_admitted(place in any::<prop::sample::Index>(), with in 1_u8..) {
        thread_local! {
            static VALID: Valid = Valid::new();
        }
        VALID.with(|valid| {
            let at = place.index(valid.pack.len());
            prop_assert!(valid.refuses(&flipped(&valid.pack, at, with)), "byte {at}");
            Ok(())
        })?;
    }

    #[test]
    fn bytes_that_are_cut_or_doubled_are_never_admitted(place in any::<prop::sample::Index>(), length in 1_usize..64, doubled: bool) {
        thread_local! {
            static VALID: Valid = Valid::new();
        }
        VALID.with(|valid| {
            let at = place.index(valid.pack.len());
            let end = (at + length).min(valid.pack.len());
            let middle = if doubled { [&valid.pack[at..end], &valid.pack[at..end]].concat() } else { Vec::new() };
            let other = [&valid.pack[..at], &middle, &valid.pack[end..]].concat();
            prop_assert!(valid.refuses(&other), "byte {at}");
            Ok(())
        })?;
    }
}
