//! The answers of another world. They are the same for the same number of the world, counted from the real
//! ones: what is asked first on a thread is answered alike each time.

use std::time::Duration;

use super::{calendar, watch};

const DAY: Duration = Duration::from_secs(86_400);

/// A date of another world.
struct Date {
    month: usize,
    day: u64,
    /// From 0, a Monday.
    weekday: u64,
    /// How many years later than the year after the next, or the first after that on which the date has the
    /// weekday.
    years: u64,
}

const fn date(month: usize, day: u64, weekday: u64, years: u64) -> Date {
    Date {
        month,
        day,
        weekday,
        years,
    }
}

/// The dates of 16 worlds that follow one another, by the time of the day.
///
/// Together they show every weekday and month, the first day of one and the last, each time of the day to an hour
/// and a half, years soon and far, whatever the real date is: what such a question decides shows. The weekdays
/// are such that all of them come up in any time zone, and also at the second look and the third.
const DATES: [Date; 16] = [
    date(1, 1, 3, 1),
    date(7, 31, 2, 5),
    date(4, 1, 6, 20),
    date(10, 15, 5, 2),
    date(2, 29, 1, 0),
    date(8, 8, 4, 12),
    date(12, 31, 1, 3),
    date(5, 5, 0, 30),
    date(3, 31, 3, 0),
    date(11, 30, 0, 8),
    date(6, 1, 2, 40),
    date(9, 23, 1, 1),
    date(12, 24, 6, 15),
    date(1, 12, 5, 6),
    date(6, 30, 0, 25),
    date(2, 18, 4, 10),
];

/// How much later at each look: clocks advance, and no two looks are close together.
const STEP: Duration = Duration::from_nanos(67_089_101_103);

/// How much more than that, in one world of four each: nothing, an hour, days, a year of whole weeks.
const STEPS: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_secs(67 * 60),
    Duration::from_secs(84 * 3_600),
    Duration::from_secs(364 * 86_400 + 5 * 60),
];

/// More than this the looks do not add, but for a minute each: in 2262 the nanoseconds since 1970 are more than
/// an `i64` holds, and code may count them.
const MOST: Duration = Duration::from_secs(150 * 365 * 86_400);

/// No process has a number from here on.
const NO_PROCESS: i32 = 1 << 22;

/// One of the other worlds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changed {
    number: u64,
}

impl Changed {
    pub(super) fn new(number: u64) -> Self {
        Self { number }
    }

    /// How much later than `real`, since 1970, it is there before anybody looks: more than a year.
    pub(super) fn later(self, real: Duration) -> Duration {
        let place = self.place();
        let Date {
            month,
            day,
            weekday,
            years,
        } = DATES[place];
        let place = place as u64;
        let year = calendar::year_of(real.as_secs() / DAY.as_secs()) + 2 + years;
        let date = calendar::next(year, month, day, weekday);
        let time = (real.as_secs() + place * 90 * 60 + 7 * 60 + 11 + place * 7) % DAY.as_secs();
        let there = date * DAY.as_secs() + time;
        // A part of a second more, so that milliseconds are others.
        Duration::from_secs(there - real.as_secs()) + Duration::from_nanos(67_089_101 * place)
    }

    /// How far its clocks are ahead of ours, at the next look at one.
    pub(super) fn ahead(self) -> Duration {
        self.ahead_after(watch::later(), watch::look())
    }

    /// How far they were at the last look, at most.
    pub(super) fn was_ahead(self) -> Duration {
        self.ahead_after(watch::later(), watch::looks())
    }

    fn ahead_after(self, later: Duration, looks: u64) -> Duration {
        // Not so many that a clock comes to its end.
        let looks = u32::try_from(looks).unwrap_or(u32::MAX).min(1_000_000);
        let steps = STEPS[self.place() % 4].saturating_mul(looks).min(MOST);
        later + steps + STEP * looks
    }

    /// Its place among [`DATES`]. Worlds that follow one another are not neighbours there.
    fn place(self) -> usize {
        (self.number % 16 * 3 % 16) as usize
    }

    /// Its next random bytes.
    pub(super) fn fill(self, bytes: &mut [u8]) {
        let mut state = mixed(self.number) ^ watch::draw();
        for chunk in bytes.chunks_mut(8) {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            for (byte, random) in chunk.iter_mut().zip(mixed(state).to_le_bytes()) {
                *byte = random;
            }
        }
    }

    /// The number of this process.
    pub(super) fn process(self) -> i32 {
        NO_PROCESS + i32::try_from(self.number % 1_000).unwrap_or_default()
    }

    /// The name of this machine.
    pub(super) fn host(self) -> String {
        format!("changed-{}", self.number)
    }
}

/// splitmix64: similar numbers give unlike ones.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use chrono::{DateTime, Datelike as _, FixedOffset, TimeZone, Timelike as _, Utc};

    use super::{Changed, DAY};

    /// As many worlds as a run has at its end.
    const WORLDS: u64 = 16;

    /// The moments that 16 worlds show after so many looks, where it is `real`.
    fn shown(real: DateTime<Utc>, first: u64, looks: u64) -> Vec<DateTime<Utc>> {
        let since = Duration::from_secs(real.timestamp().unsigned_abs());
        let ahead = |number| {
            let world = Changed::new(number);
            world.ahead_after(world.later(since), looks)
        };
        let worlds = first..first + WORLDS;
        worlds.map(|number| real + ahead(number)).collect()
    }

    /// Each hour of a leap year and of the one after it.
    fn hours_of_two_years() -> impl Iterator<Item = DateTime<Utc>> {
        let begin = DateTime::from_timestamp(1_830_297_600, 0).unwrap();
        (0..731 * 24_u64).map(move |hour| begin + Duration::from_secs(hour * 3_600 + 1_790))
    }

    fn different<T: Ord>(
        shown: &[DateTime<Utc>],
        part: impl Fn(&DateTime<Utc>) -> T,
    ) -> BTreeSet<T> {
        shown.iter().map(part).collect()
    }

    fn weekdays<Z: TimeZone>(shown: &[DateTime<Utc>], zone: &Z) -> usize {
        different(shown, |time| {
            time.with_timezone(zone).weekday().num_days_from_monday()
        })
        .len()
    }

    #[test]
    fn worlds_show_each_weekday_and_month_and_part_of_the_day_whatever_the_date_is() {
        for real in hours_of_two_years().step_by(5) {
            let shown = shown(real, 3, 0);
            assert_eq!(weekdays(&shown, &Utc), 7, "{real}");
            assert_eq!(different(&shown, |time| time.month()).len(), 12, "{real}");
            assert_eq!(
                different(&shown, |time| time.hour() / 2).len(),
                12,
                "{real}"
            );
            assert_eq!(
                different(&shown, |time| time.minute() / 30).len(),
                2,
                "{real}"
            );
            assert_eq!(
                different(&shown, |time| time.second() / 20).len(),
                3,
                "{real}"
            );
            let ends = [1, 15, 29, 30, 31].iter();
            assert!(
                ends.copied()
                    .all(|day| shown.iter().any(|time| time.day() == day)),
                "{real}"
            );
            assert!(shown.iter().all(|time| *time > real + DAY * 365), "{real}");
            for years in [2, 5, 10, 20, 40] {
                let far = shown.iter().any(|time| time.year() > real.year() + years);
                assert!(far, "{real} and {years} years");
            }
            let near = shown.iter().any(|time| time.year() < real.year() + 10);
            assert!(near, "{real}");
        }
    }

    #[test]
    fn they_show_each_weekday_in_every_time_zone() {
        for real in hours_of_two_years().step_by(101) {
            for quarters in -48..=56 {
                let zone = FixedOffset::east_opt(quarters * 900).unwrap();
                assert_eq!(weekdays(&shown(real, 0, 0), &zone), 7, "{real} and {zone}");
            }
        }
    }

    /// What looks at a clock for the first time may have looked for another reason before.
    #[test]
    fn a_later_look_shows_nearly_as_many() {
        for looks in 1..=12 {
            for real in hours_of_two_years().step_by(53) {
                let shown = shown(real, 100, looks);
                let least = if looks <= 2 { 7 } else { 6 };
                assert!(weekdays(&shown, &Utc) >= least, "{real}, {looks} looks");
                let months = different(&shown, |time| time.month());
                assert!(months.len() >= 9, "{real}, {looks} looks: {months:?}");
                assert_eq!(
                    different(&shown, |time| time.hour() / 6).len(),
                    4,
                    "{real}, {looks} looks"
                );
            }
        }
    }

    #[test]
    fn no_number_of_looks_leaves_the_range_of_nanoseconds() {
        let real = DateTime::from_timestamp(1_830_297_600, 0).unwrap();
        for looks in [1_000, 1_000_000, u64::MAX] {
            for time in shown(real, u64::MAX - WORLDS, looks) {
                assert!(time.timestamp_nanos_opt().is_some(), "{time}");
            }
        }
    }
}
