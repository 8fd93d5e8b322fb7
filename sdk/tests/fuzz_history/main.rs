//! Unknown, damaged and truncated histories by the thousand: a fit or an exact error, no panic, no hang, no memory
//! beyond what was given (S5, S17). The same function is under the fuzzer in `sdk/fuzz`; here bytes are changed by a
//! generator whose seeds are written down, so that each run is the same.

#![allow(clippy::unwrap_used)]

mod input;

/// SplitMix64.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}

/// Changes some bytes: single ones, bits, stretches left out, doubled or moved, the end cut off.
fn mutated(mut bytes: Vec<u8>, draws: &mut Draws) -> Vec<u8> {
    for _ in 0..=draws.below(4) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = draws.below(bytes.len());
        let to = (at + 1 + draws.below(40)).min(bytes.len());
        match draws.below(7) {
            0 => bytes[at] = draws.byte(),
            1 => bytes[at] ^= 1 << draws.below(8),
            2 => drop(bytes.drain(at..to)),
            3 => {
                let stretch = bytes[at..to].to_vec();
                let place = draws.below(bytes.len());
                bytes.splice(place..place, stretch);
            }
            4 => bytes.truncate(at),
            5 => bytes.insert(at, draws.byte()),
            _ => {
                // Digits stay digits, so that what is read is still a history.
                let digits: Vec<_> = (0..bytes.len())
                    .filter(|at| bytes[*at].is_ascii_digit())
                    .collect();
                if !digits.is_empty() {
                    bytes[digits[draws.below(digits.len())]] = b'0' + draws.byte() % 10;
                }
            }
        }
    }
    bytes
}

fn some_thousand(kind: u8, seeds: &[Vec<u8>]) {
    let mut draws = Draws(u64::from(kind));
    for _ in 0..3_000 {
        let seed = seeds[draws.below(seeds.len())].clone();
        let mut bytes = vec![kind];
        bytes.extend(mutated(seed, &mut draws));
        input::feed(&bytes);
    }
}

#[test]
fn texts_that_may_be_histories() {
    let seeds: Vec<_> = input::fitting()
        .iter()
        .map(|history| history.to_json().unwrap().into_bytes())
        .collect();
    some_thousand(0, &seeds);
}

#[test]
fn records_that_may_be_damaged() {
    let seeds: Vec<_> = input::fitting().iter().map(input::as_records).collect();
    some_thousand(1, &seeds);
}

#[test]
fn histories_that_were_changed() {
    let mut draws = Draws(2);
    let mut seeds = Vec::new();
    for which in 0..60 {
        let mut steps = vec![which];
        for _ in 0..4 * (1 + draws.below(3)) {
            steps.push(draws.byte());
        }
        seeds.push(steps);
    }
    some_thousand(2, &seeds);
}

#[test]
fn what_is_changed_fits_before() {
    let fitting = input::fitting();
    assert!(fitting.iter().any(|history| history.units.len() > 10));
    for history in fitting {
        input::judge(&history.units);
        input::json(&history.to_json().unwrap());
        input::records(&input::as_records(history));
    }
    assert!(fitting.len() > 3);
}
