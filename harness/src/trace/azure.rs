//! N2, Azure CSV: `TIMESTAMP`, `ContextTokens`, `GeneratedTokens`. Times are dates with up to seven decimals (100 ns) and,
//! since 2024, the offset of their zone; the first row is time zero.

use super::csv;
use super::error::TraceError;
use super::field::{ARRIVAL_US_MAX, Field};
use super::lines::Lines;
use super::rows::{Row, Rows};

/// What the header must have.
pub const COLUMNS: [&str; 3] = ["TIMESTAMP", "ContextTokens", "GeneratedTokens"];

const TICKS_A_SECOND: i64 = 10_000_000;
const TICKS_A_MICROSECOND: i64 = 10;
const SECONDS_A_DAY: i64 = 86_400;

/// Reads one file. `zero` is the first row's time, and stays it for the files after the first.
pub fn read(lines: Lines, zero: &mut Option<i64>, rows: &mut Rows) -> Result<(), TraceError> {
    csv::rows(lines, |row| {
        let time = row.field("TIMESTAMP")?;
        let ticks =
            ticks(time.text).ok_or_else(|| time.refuse("give a date and a time as in 2023-11-16 18:17:03.9799600"))?;
        let since = ticks - *zero.get_or_insert(ticks);
        let arrival_us = arrival_us(&time, since)?;
        let (prompt, output) = (row.field("ContextTokens")?.tokens()?, row.field("GeneratedTokens")?.tokens()?);
        rows.add(row.place(), Row::new(arrival_us, prompt, output), &[]);
        Ok(())
    })
}

fn arrival_us(time: &Field<'_>, since: i64) -> Result<u64, TraceError> {
    if since < 0 {
        return Err(time.refuse("the first row is time zero: put the earliest row first"));
    }
    let us = (since / TICKS_A_MICROSECOND) as u64;
    if us <= ARRIVAL_US_MAX { Ok(us) } else { Err(time.refuse("give times within 285 years of the first row")) }
}

/// 100 ns since 1970-01-01 00:00:00 UTC. A time without an offset is taken as UTC: only differences matter, but a trace
/// may have both.
fn ticks(text: &str) -> Option<i64> {
    let (date, time) = text.split_once([' ', 'T'])?;
    let [year, month, day] = numbers(date, '-')?;
    let (time, offset) = match time.find(['+', '-', 'Z']) {
        Some(at) => (&time[..at], offset_seconds(&time[at..])?),
        None => (time, 0),
    };
    let (clock, fraction) = time.trim_end().split_once('.').unwrap_or((time.trim_end(), "0"));
    let [hour, minute, second] = numbers(clock, ':')?;
    let in_range =
        (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
    if !in_range || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day) * SECONDS_A_DAY + hour * 3600 + minute * 60 + second - offset;
    Some(seconds * TICKS_A_SECOND + fraction_ticks(fraction)?)
}

/// Seconds by which a zone is ahead of UTC: `Z`, `+02:00`, `+0200`, `+02`.
fn offset_seconds(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let digits: Vec<i64> =
        text.get(1..)?.bytes().filter(|&byte| byte != b':').map(|byte| i64::from(byte) - 48).collect();
    let seconds = match digits[..] {
        [a, b] => (10 * a + b) * 3600,
        [a, b, c, d] if c < 6 => (10 * a + b) * 3600 + (10 * c + d) * 60,
        _ => return None,
    };
    let valid = digits.iter().all(|digit| (0..=9).contains(digit)) && seconds < SECONDS_A_DAY;
    valid.then_some(if text.starts_with('-') { -seconds } else { seconds })
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| part.parse::<u16>().ok().map(i64::from));
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// The first seven decimals; what comes after them is below the clock.
fn fraction_ticks(digits: &str) -> Option<i64> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(
        digits
            .bytes()
            .chain(std::iter::repeat(b'0'))
            .take(7)
            .fold(0, |ticks, byte| ticks * 10 + i64::from(byte - b'0')),
    )
}

/// How long a month is: from its first day to that of the next.
fn days_of_month(year: i64, month: i64) -> i64 {
    let next = if month < 12 { days(year, month + 1, 1) } else { days(year + 1, 1, 1) };
    next - days(year, month, 1)
}

/// Days from 1970-01-01 in the Gregorian calendar. Counts years from March, so that a leap day is the last of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    // 719,468 days lie between 0000-03-01 and 1970-01-01; 153 is the length of five months from March or August on.
    year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    #[test]
    fn dates_are_days_since_1970() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(1970, 12, 31), 364);
        assert_eq!(days(2000, 2, 29), 11_016);
        assert_eq!(days(2000, 3, 1), 11_017);
        assert_eq!(days(2024, 5, 10), 19_853);
        let lengths = |year| (1..=12).map(|month| days_of_month(year, month)).collect::<Vec<_>>();
        assert_eq!(lengths(2023), [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]);
        assert_eq!([2000, 2024, 2100].map(|year| days_of_month(year, 2)), [29, 29, 28]);
        assert_eq!(days(2100, 3, 1) - days(2100, 2, 28), 1, "2100 has no leap day");
    }

    #[test]
    fn ticks_keep_seven_decimals() {
        assert_eq!(ticks("1970-01-02 00:00:01.0000001"), Some((SECONDS_A_DAY + 1) * TICKS_A_SECOND + 1));
        assert_eq!(ticks("1970-01-01 00:00:00.98"), Some(9_800_000));
        assert_eq!(ticks("1970-01-01T00:00:00.123456+00:00"), Some(1_234_560));
        assert_eq!(ticks("1970-01-01 00:01:00"), Some(60 * TICKS_A_SECOND));
        for same in [
            "1970-01-01 00:00:10",
            "1970-01-01 00:00:10Z",
            "1970-01-01 00:00:10.0+00:00",
            "1970-01-01 02:00:10+02:00",
            "1970-01-01 02:00:10.000000+0200",
            "1970-01-01T02:00:10 +02",
            "1970-01-01 00:30:10.0000000009+00:30",
            "1970-01-02 00:00:10+24:00",
        ] {
            let want = (!same.contains("+24")).then_some(10 * TICKS_A_SECOND);
            assert_eq!(ticks(same), want, "{same}");
        }
        assert_eq!(ticks("1970-01-01 18:30:00-05:30"), Some(SECONDS_A_DAY * TICKS_A_SECOND));
        for bad in [
            "1970-01-01 00:00:00+2",
            "1970-01-01 00:00:00+02:60",
            "1970-01-01 00:00:00+02:0x",
            "1970-01-01 00:00:00 UTC",
            "",
            "1970-01-01",
            "1970-13-01 00:00:00",
            "1970-01-01 24:00:00",
            "2023-02-29 00:00:00",
            "2023-02-31 00:00:00",
            "2024-02-30 00:00:00",
            "2100-02-29 00:00:00",
            "2023-04-31 00:00:00",
            "2023-12-32 00:00:00",
            "2023-12-00 00:00:00",
            "1970-01-01 00:00",
            "1-1-1 0:0:0.",
            "2023-11-16 18:17:0x",
            "2023-11-16 18:17:03.97a",
            "2023-11-16 -1:17:03",
        ] {
            assert_eq!(ticks(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_first_row_is_zero_and_none_comes_before_it() {
        let text = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n\
                    2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319699,3180,8\r\n";
        let (mut rows, mut zero) = (Rows::default(), None);
        let lines = |name, text| Source::of_text(name, text).expect("a text").lines();
        read(lines("a.csv", text), &mut zero, &mut rows).expect("rows");
        let early = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799599,1,1\n";
        let message = read(lines("b.csv", early), &mut zero, &mut Rows::default()).expect_err("early").to_string();
        assert!(message.starts_with("b.csv, line 2: field `TIMESTAMP`: found `2023"), "{message}");
        let trace = rows.into_trace("a.csv", crate::trace::Format::Azure, 1, Default::default()).expect("a trace");
        assert_eq!(trace.requests.iter().map(|r| r.arrival_us).collect::<Vec<_>>(), [0, 52_009]);
    }
}
