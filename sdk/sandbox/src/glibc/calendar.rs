//! As much of the calendar as it takes to choose a date.

const MONTHS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// How many days lie between the first one of 1970 and the first one of `year`.
fn days_before(year: u64) -> u64 {
    let leap_days = |before: u64| before / 4 - before / 100 + before / 400;
    365 * (year - 1970) + leap_days(year - 1) - leap_days(1969)
}

/// The year of a day, counted from the first one of 1970.
pub(super) fn year_of(day: u64) -> u64 {
    let mut year = 1970 + day / 366;
    while days_before(year + 1) <= day {
        year += 1;
    }
    year
}

/// The day of a date, counted from the first one of 1970. `None`: that year does not have it.
fn day_of(year: u64, month: usize, day: u64) -> Option<u64> {
    let leap = u64::from(is_leap(year));
    let february = |number: usize| if number == 2 { leap } else { 0 };
    let exists = day <= MONTHS[month - 1] + february(month);
    let before: u64 = (1..month)
        .map(|number| MONTHS[number - 1] + february(number))
        .sum();
    exists.then(|| days_before(year) + before + day - 1)
}

/// The first such date that is on such a weekday (0: Monday), in that year or one of those after it.
pub(super) fn next(year: u64, month: usize, day: u64, weekday: u64) -> u64 {
    let days = (year..).filter_map(|year| day_of(year, month, day));
    // 1970 began on a Thursday.
    let mut fitting = days.filter(|day| (day + 3) % 7 == weekday);
    fitting.next().unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use chrono::{Datelike as _, NaiveDate};

    use super::{next, year_of};

    #[test]
    fn dates_are_those_of_the_calendar() {
        let epoch = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
        for (date, day) in epoch.iter_days().zip(0..).take(140 * 366) {
            let year = u64::from(date.year().unsigned_abs());
            assert_eq!(year_of(day), year, "{date}");
            let weekday = u64::from(date.weekday().num_days_from_monday());
            let month = date.month() as usize;
            let found = next(year, month, u64::from(date.day()), weekday);
            assert_eq!(found, day, "{date}");
        }
    }

    #[test]
    fn a_weekday_is_waited_for() {
        let friday = NaiveDate::from_ymd_opt(2052, 2, 29).unwrap();
        let days = friday.signed_duration_since(NaiveDate::from_ymd_opt(1970, 1, 1).unwrap());
        let weekday = u64::from(friday.weekday().num_days_from_monday());
        assert_eq!(next(2027, 2, 29, weekday).cast_signed(), days.num_days());
    }
}
