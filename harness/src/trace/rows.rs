//! What a reader collects, row by row, until the trace is whole; and what became of rows that are no requests.

use super::error::{Place, TraceError};
use super::field::{Field, TOKENS_MAX};
use super::format::Format;
use super::normalise::{Normalise, normalise};
use super::origin::{Dropped, IdTokens, Origin, Reason};
use super::{Request, Trace};

/// A row that has been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Microseconds from the trace's zero.
    pub arrival_us: u64,
    /// Tokens of the prompt.
    pub prompt: u32,
    /// Tokens that were generated.
    pub output: u32,
    /// Whose it is.
    pub tenant: u64,
    /// The conversation that it belongs to, as [`Rows::new_session`] numbered it.
    pub session: Option<u32>,
}

impl Row {
    /// A row of tenant 0 and of no session.
    pub fn new(arrival_us: u64, prompt: u32, output: u32) -> Row {
        Row { arrival_us, prompt, output, tenant: 0, session: None }
    }
}

/// What a reader collects: rows in the order of the files.
#[derive(Debug, Default)]
pub struct Rows {
    requests: Vec<Request>,
    ids: Vec<u64>,
    dropped: Vec<Dropped>,
    sessions: u32,
    declared: Option<(u32, String)>,
}

impl Rows {
    /// Adds a row that stands in no file; one without tokens is only counted.
    pub fn push(&mut self, arrival_us: u64, prompt: u32, output: u32, tenant: u64, ids: &[u64]) {
        let place = Place { file: "no file", line: self.count() + 1 };
        self.add(place, Row { tenant, ..Row::new(arrival_us, prompt, output) }, ids);
    }

    /// Adds a row; one without tokens is only counted (N8).
    pub(super) fn add(&mut self, place: Place<'_>, row: Row, ids: &[u64]) {
        let reason = match (row.prompt, row.output) {
            (0, 0) => Reason::NoTokens,
            (0, _) => Reason::NoPrompt,
            (_, 0) => Reason::NoOutput,
            _ => {
                let (ids_first, ids_count) = (self.ids.len(), ids.len());
                self.ids.extend_from_slice(ids);
                let Row { arrival_us, prompt, output, tenant, session } = row;
                self.requests.push(Request { arrival_us, prompt, output, tenant, session, ids_first, ids_count });
                return;
            }
        };
        match self.dropped.iter_mut().find(|dropped| dropped.reason == reason) {
            Some(dropped) => dropped.rows += 1,
            None => self.dropped.push(Dropped { reason, rows: 1, first: place.to_string() }),
        }
    }

    /// Rows so far, dropped ones included.
    pub fn count(&self) -> usize {
        self.requests.len() + self.dropped_rows()
    }

    fn dropped_rows(&self) -> usize {
        self.dropped.iter().map(|dropped| dropped.rows).sum()
    }

    /// A number for a conversation that was not seen before.
    pub(super) fn new_session(&mut self) -> u32 {
        self.sessions += 1;
        self.sessions - 1
    }

    /// The file says how many tokens an id covers. Errors: no such number, or another one than before.
    pub(super) fn declare_id_tokens(&mut self, field: &Field<'_>) -> Result<u32, TraceError> {
        let tokens = field.whole(TOKENS_MAX)?;
        let tokens = u32::try_from(tokens).ok().filter(|&tokens| tokens > 0);
        let tokens = tokens.ok_or_else(|| field.refuse(&format!("give a whole number from 1 to {TOKENS_MAX}")))?;
        match &self.declared {
            None => self.declared = Some((tokens, field.place.to_string())),
            Some((declared, place)) if *declared != tokens => {
                let mend = format!("give one size to a trace: {place} says {declared}");
                return Err(field.refuse(&mend));
            }
            Some(_) => {}
        }
        Ok(tokens)
    }

    /// How many tokens an id covers, if the file says so, and where it does.
    pub(super) fn declared(&self) -> Option<(u32, &str)> {
        self.declared.as_ref().map(|(tokens, place)| (*tokens, place.as_str()))
    }

    /// Applies N8. `name` is the trace, for messages; an id covers `id_tokens` tokens.
    pub fn into_trace(
        self,
        name: &str,
        format: Format,
        id_tokens: u32,
        normalise: Normalise,
    ) -> Result<Trace, TraceError> {
        self.finish(name, format, id_tokens, Origin::default(), normalise)
    }

    /// The same, with what is known about where the rows come from.
    pub(super) fn finish(
        mut self,
        name: &str,
        format: Format,
        id_tokens: u32,
        origin: Origin,
        wanted: Normalise,
    ) -> Result<Trace, TraceError> {
        let dropped_rows = self.dropped_rows();
        if self.requests.is_empty() {
            let found =
                format!("no request left ({} rows, {dropped_rows} without prompt or output tokens)", self.count());
            return Err(TraceError::new(name, found, "give a trace with at least one request that has both"));
        }
        let rows = self.count();
        let ids = self.cut_ids(id_tokens);
        let beyond_first = normalise(name, &mut self.requests, wanted)?;
        let mut dropped = self.dropped;
        dropped.sort_by_key(|dropped| dropped.reason);
        let origin = Origin { rows, dropped, beyond_first, ids, ..origin };
        Ok(Trace { format, requests: self.requests, dropped_rows, id_tokens, ids: self.ids, origin })
    }

    /// Ids beyond the end of a prompt name nothing: they are no segments. Says how ids and prompts go together.
    fn cut_ids(&mut self, id_tokens: u32) -> IdTokens {
        let (mut found, size) = (IdTokens::default(), id_tokens.max(1));
        for request in self.requests.iter_mut().filter(|request| request.ids_count > 0) {
            let (most, least) = (request.prompt.div_ceil(size) as usize, (request.prompt / size) as usize);
            found.requests += 1;
            found.too_many += usize::from(request.ids_count > most);
            found.too_few += usize::from(request.ids_count < least);
            request.ids_count = request.ids_count.min(most);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{ARRIVAL_US_MAX, TimeScale};

    fn rows() -> Rows {
        let mut rows = Rows::default();
        rows.push(30, 1, 1, 0, &[7]);
        rows.push(20, 0, 5, 0, &[]);
        rows.push(11, 2, 1, 0, &[8, 9]);
        rows.push(30, 3, 1, 0, &[]);
        rows.push(5, 4, 0, 0, &[6]);
        rows
    }

    fn trace(normalise: Normalise) -> Result<Trace, TraceError> {
        rows().into_trace("t", Format::Mooncake, 1, normalise)
    }

    #[test]
    fn dropped_then_sorted_then_cut_then_scaled() {
        let trace = trace(Normalise { first: Some(2), time_scale: TimeScale { num: 1, den: 4 } }).expect("a trace");
        let seen: Vec<_> = trace.requests.iter().map(|r| (r.arrival_us, r.prompt)).collect();
        assert_eq!(seen, [(2, 2), (7, 1)], "equal arrivals keep their order, and scaling floors");
        assert_eq!((trace.dropped_rows, trace.origin.beyond_first, trace.origin.rows), (2, 1, 5));
        assert_eq!(trace.ids(&trace.requests[0]), [8, 9]);
        assert_eq!(trace.ids(&trace.requests[1]), [7]);
    }

    #[test]
    fn what_was_dropped_is_said_with_its_reason_and_first_place() {
        let mut rows = rows();
        rows.push(0, 0, 0, 0, &[]);
        rows.push(0, 0, 2, 0, &[]);
        let trace = rows.into_trace("t", Format::Mooncake, 1, Normalise::default()).expect("a trace");
        let dropped: Vec<_> = trace.origin.dropped.iter().map(|d| (d.reason, d.rows, d.first.as_str())).collect();
        assert_eq!(
            dropped,
            [
                (Reason::NoPrompt, 2, "no file, line 2"),
                (Reason::NoOutput, 1, "no file, line 5"),
                (Reason::NoTokens, 1, "no file, line 6")
            ]
        );
    }

    #[test]
    fn ids_beyond_the_prompt_are_no_segments() {
        let mut rows = Rows::default();
        rows.push(0, 9, 1, 0, &[1, 2, 3, 4]);
        rows.push(1, 8, 1, 0, &[1, 2]);
        rows.push(2, 8, 1, 0, &[1]);
        let trace = rows.into_trace("t", Format::Mooncake, 4, Normalise::default()).expect("a trace");
        assert_eq!(trace.ids(&trace.requests[0]), [1, 2, 3]);
        assert_eq!(trace.origin.ids, IdTokens { requests: 3, too_many: 1, too_few: 1 });
    }

    #[test]
    fn a_file_says_one_size_of_ids() {
        let mut rows = Rows::default();
        let field = |line, text| Field { place: Place { file: "t", line }, name: "block_size", text };
        assert_eq!(rows.declare_id_tokens(&field(3, "16")), Ok(16));
        assert_eq!(rows.declare_id_tokens(&field(4, "16")), Ok(16));
        let message = rows.declare_id_tokens(&field(5, "32")).expect_err("another").to_string();
        assert_eq!(message, "t, line 5: field `block_size`: found `32`; give one size to a trace: t, line 3 says 16");
        assert!(rows.declare_id_tokens(&field(6, "0")).is_err());
    }

    #[test]
    fn a_trace_without_requests_is_refused() {
        let mut empty = Rows::default();
        empty.push(0, 0, 1, 0, &[]);
        let message = empty.into_trace("t.csv", Format::Azure, 1, Normalise::default()).expect_err("empty").to_string();
        assert!(message.starts_with("t.csv: no request left (1 rows, 1 without"), "{message}");
    }

    #[test]
    fn a_scale_that_leaves_the_clock_is_refused() {
        let mut late = Rows::default();
        late.push(ARRIVAL_US_MAX, 1, 1, 0, &[]);
        let normalise = Normalise { first: None, time_scale: TimeScale { num: 2, den: 1 } };
        assert!(late.into_trace("t", Format::Azure, 1, normalise).is_err());
    }
}
