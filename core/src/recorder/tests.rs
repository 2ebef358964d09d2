//! What a ring keeps, what reading a dump refuses, and that a history made again is the same.

use super::{Answer, Call, Dump, HEADER_WORDS, Named, Numbers, Outcome, RING_LINES_MIN, Record, Steps};
use crate::answer::{Argument, Refusal};
use crate::arena::Line;
use crate::calls::{Admission, Prefix, Promise, Step, Window};
use crate::config::PoolConfig;
use crate::identity::Identity;
use crate::ids::{Account, BlockId, Epoch, Group, Sequence, Stream, StreamSet, Transfer};
use crate::model::{Broken, Comparison, History, Random, configuration, merge, operations, rerun};
use crate::pool::{Pool, entries, lines};
use crate::transfers::Access;
use std::collections::BTreeSet;
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

pub(super) fn words_of(handle: &Pool<'_>) -> Vec<u64> {
    let mut words = vec![0; handle.ring().dump_words as usize];
    assert_eq!(handle.dump(&mut words), Ok(words.len()));
    words
}

pub(super) fn words(ring: &[Line]) -> Vec<u64> {
    ring.iter().flat_map(Line::words).copied().collect()
}

/// Memory, table and rings of a pool.
pub(super) struct Home {
    pub(super) config: PoolConfig,
    pub(super) memory: Vec<Line>,
    pub(super) table: Vec<u32>,
    pub(super) rings: [Vec<Line>; 2],
}

impl Home {
    pub(super) fn new(config: PoolConfig, ring_lines: usize) -> Home {
        let rings = [vec![Line::DIRTY; ring_lines], vec![Line::DIRTY; ring_lines]];
        Home { config, memory: vec![Line::DIRTY; lines(&config)], table: vec![0; entries(&config)], rings }
    }

    pub(super) fn handles(&mut self) -> [Pool<'_>; 2] {
        let pool = Pool::init(&mut self.memory, &mut self.table, &self.config).expect("valid");
        self.rings.each_mut().map(|ring| pool.recording(ring).expect("room"))
    }
}

pub(super) const CONFIG: PoolConfig = PoolConfig::new(40, 4, 4, 20);

/// One request, start to end.
pub(super) fn serve(pool: &Pool<'_>) -> Sequence {
    let sequence = pool.open().expect("a slot");
    pool.admit(sequence, &Admission::full(8, 8)).expect("room");
    pool.advance(sequence, 8).expect("promised");
    let epoch = pool.submit(Stream(0)).expect("room");
    let steps = [Step { sequence, tokens: 1 }, Step { sequence: Sequence::default(), tokens: 1 }];
    pool.advance_many(&steps, &mut [0; 2], &mut [0; 2]).expect("long enough");
    pool.advance_many(&steps[..1], &mut [0; 1], &mut [0; 1]).expect("long enough");
    pool.end(sequence).expect("mine");
    pool.complete(Stream(0), epoch, false).expect("submitted");
    sequence
}

#[test]
fn a_random_history_made_again_gives_the_same_answers_and_ids() {
    let mut taken = 0;
    for seed in 0..450 {
        let config = configuration(seed);
        let list = operations(seed, 300);
        let mut ring = vec![Line::DIRTY; Comparison::ring_lines(list.len())];
        Comparison::run_recorded(&config, &list, &mut ring).expect("pool and model agree");
        let mut words = words(&ring);
        let dump = Dump::read(&mut words).expect("a dump");
        assert_eq!((dump.config, dump.lost, dump.overwritten), (config, 0, 0));
        let history = merge(&[dump], false).expect("one whole history");
        assert_eq!(history.records.len(), list.len());
        rerun(&history, seed % 3 == 0, |record, again| {
            assert_eq!((record.outcome, &again.fault), (again.outcome, &None), "seed {seed}: {record:?}");
            taken += u32::from(again.outcome.first_block > 0);
        })
        .expect("the pool can be made");
    }
    assert!(taken > 3000, "{taken} calls took blocks");
}

#[test]
fn a_change_of_an_answer_or_of_ids_is_seen() {
    let mut home = Home::new(CONFIG, 32);
    serve(&home.handles()[0]);
    let mut words = words(&home.rings[0]);
    let history = merge(&[Dump::read(&mut words).expect("a dump")], false).expect("whole");
    let differences = |records: Vec<Record<'_>>| {
        let mut seen = 0;
        let history = History { records, ..history.clone() };
        rerun(&history, false, |record, again| seen += u32::from(record.outcome != again.outcome)).expect("valid");
        seen
    };
    let records = history.records.clone();
    assert_eq!(differences(records.clone()), 0);
    // One admission less is there: everything behind it is refused.
    let without: Vec<_> = records.iter().filter(|record| !matches!(record.call, Call::Admit { .. })).copied().collect();
    assert!(differences(without) >= 2);
    let mut other = records.clone();
    let advance = other.iter_mut().find(|record| record.outcome.first_block > 0).expect("one took blocks");
    advance.outcome.digest ^= 1;
    assert_eq!(differences(other), 1);
}

#[test]
fn every_call_is_read_as_it_was_written() {
    let mut random = Random::new(1);
    for round in 0..2000 {
        // Nothing that was written here is valid: a record keeps what was asked, not what should have been.
        let mut home = Home::new(PoolConfig { number: round % 3, ..CONFIG }, 32);
        let [pool, _] = home.handles();
        let [a, b, c] = [random.next() as u32, random.next() as u32, random.next() as u32];
        let small = round % 2 == 0;
        let sequence = Sequence {
            slot: if small { a % 8 } else { a },
            pool: if small { round % 3 } else { b },
            generation: if small { u64::from(c) } else { random.next() },
        };
        let account = Account { slot: b, pool: c, generation: random.next() };
        let promise = if small { Promise::Full } else { Promise::Blocks(c) };
        let (group, streams) = (Group(a), StreamSet(random.next()));
        let window = Window { tokens: if small { 0 } else { a }, steps_in_flight: b, chunk_tokens: c };
        let admission = Admission {
            prompt_tokens: a,
            output_tokens_max: b,
            speculative_tokens: c % 7,
            window,
            promise,
            group,
            streams,
            watermark: c,
            account,
        };
        let names: Vec<_> = (0..a % 4).map(|_| Identity { low: random.next(), high: random.next() }).collect();
        let numbers: Vec<u32> = (0..b % 5).map(|_| random.next() as u32).collect();
        let ids: Vec<_> = numbers.iter().copied().map(BlockId).collect();
        let prefix = Prefix { identities: &names, tokens: &numbers, unfinished: small, blocks_max: c };
        let named = Named::of(&prefix);
        let access = if small { Access::Read } else { Access::Write };
        let transfer = Transfer { slot: b, pool: c, generation: random.next() };
        let steps = [Step { sequence, tokens: if small { c % 4096 } else { c } }, Step::default()];
        let (stream, epoch) = (Stream(a), Epoch(random.next()));
        let long = usize::from(small);
        let expected: Vec<String> = [
            (Call::Open, pool.open().map(Answer::from)),
            (
                Call::Admit { sequence, admission, prefix: named },
                pool.admit_prefix(sequence, &admission, &prefix).map(Answer::from),
            ),
            (Call::Advance { sequence, tokens: a }, pool.advance(sequence, a).map(Answer::from)),
            (
                Call::AdvanceGrowing { sequence, tokens: a, watermark: b },
                pool.advance_growing(sequence, a, b).map(Answer::from),
            ),
            (
                Call::AdvanceMany { steps: Steps::of(&steps), answers: 2, changed: 1 + long as u32 },
                pool.advance_many(&steps, &mut [0; 2], &mut vec![0; 1 + long]).map(Answer::from),
            ),
            (Call::Materialize { sequence, blocks: a }, pool.materialize(sequence, a).map(Answer::from)),
            (Call::Extend { sequence, blocks: a, watermark: b }, pool.extend(sequence, a, b).map(Answer::from)),
            (Call::Shrink { sequence, blocks: a }, pool.shrink(sequence, a).map(Answer::from)),
            (Call::DrawSafety { sequence, blocks: a }, pool.draw_safety(sequence, a).map(Answer::from)),
            (Call::Cancel { sequence }, pool.cancel(sequence).map(Answer::from)),
            (Call::End { sequence }, pool.end(sequence).map(Answer::from)),
            (Call::Preempt { sequence }, pool.preempt(sequence).map(Answer::from)),
            (Call::UseStreams { sequence, streams }, pool.use_streams(sequence, streams).map(Answer::from)),
            (Call::OpenAccount { group, total: b, watermark: c }, pool.open_account(group, b, c).map(Answer::from)),
            (Call::SetAccountTotal { account, total: a }, pool.set_account_total(account, a).map(Answer::from)),
            (Call::CloseAccount { account }, pool.close_account(account).map(Answer::from)),
            (Call::SetSafety { blocks: a }, pool.set_safety(a).map(Answer::from)),
            (Call::SetQuota { group, blocks: b }, pool.set_quota(group, b).map(Answer::from)),
            (Call::Submit { stream }, pool.submit(stream).map(Answer::from)),
            (Call::Complete { stream, epoch, failed: small }, pool.complete(stream, epoch, small).map(Answer::from)),
            (Call::Abandon { stream }, pool.abandon(stream).map(Answer::from)),
            (Call::Reclaim { blocks: a }, Ok(Answer::from(pool.reclaim(a)))),
            (Call::LaunchRow { sequence, epoch }, pool.launch_row(sequence, epoch).map(Answer::from)),
            (
                Call::Publish { sequence, first: a, prefix: named, epoch, keep: small },
                pool.publish(sequence, a, &prefix, epoch, small, &mut []).map(Answer::from),
            ),
            (Call::Withdraw { sequence, first: a, count: b }, pool.withdraw(sequence, a, b).map(Answer::from)),
            (
                Call::Pin { sequence, group, streams, prefix: named, watermark: c },
                pool.pin(sequence, group, streams, &prefix, c).map(Answer::from),
            ),
            (Call::Unpin { sequence }, pool.unpin(sequence).map(Answer::from)),
            (Call::Evict { blocks: a }, pool.evict(a).map(Answer::from)),
            (Call::Reset { group: small.then_some(group) }, reset(&pool, small.then_some(group))),
            (Call::Hold { sequence, first: a, count: b, access }, pool.hold(sequence, a, b, access).map(Answer::from)),
            (Call::HoldBlocks { ids: Numbers::of(&ids), access }, pool.hold_blocks(&ids, access).map(Answer::from)),
            (Call::CompleteTransfer { transfer }, pool.complete_transfer(transfer).map(Answer::from)),
            (Call::Revoke { transfer }, pool.revoke(transfer).map(Answer::from)),
            (Call::Quarantine { transfer }, pool.quarantine(transfer).map(Answer::from)),
        ]
        .iter()
        .map(|(call, answer)| said(call, answer))
        .collect();
        let mut words = words(&home.rings[0]);
        let dump = Dump::read(&mut words).expect("a dump");
        // As the documents of `recording` say. A call of number 5 is a batch.
        let mut rest = dump.words();
        while let Some(&footer) = rest.last() {
            let length = (footer >> 32) as usize;
            assert!(footer as u8 == 5 || (2..=32).contains(&length), "{length} words: {footer:#x}");
            rest = &rest[..rest.len() - length];
        }
        let history = merge(&[dump], false).expect("whole");
        let read: Vec<String> =
            history.records.iter().map(|record| said(&record.call, &record.outcome.answer)).collect();
        assert_eq!(read, expected);
    }
}

fn reset(pool: &Pool<'_>, group: Option<Group>) -> Result<Answer, Refusal> {
    match group {
        Some(group) => pool.reset(group).map(Answer::from),
        None => {
            pool.reset_all();
            Ok(Answer::Done)
        }
    }
}

/// The lists of a prefix, whatever form they have.
fn listed(prefix: &Named<'_>) -> (Vec<Identity>, Vec<u32>, bool, u32) {
    let (mut names, mut tokens) = (Vec::new(), Vec::new());
    prefix.identities.each(|name| names.push(name));
    prefix.tokens.each(|token| tokens.push(token));
    (names, tokens, prefix.unfinished, prefix.blocks_max)
}

/// A call in words, its lists whatever form they have.
fn said(call: &Call<'_>, answer: &Result<Answer, Refusal>) -> String {
    match call {
        Call::Admit { sequence, admission, prefix } => {
            format!("{sequence:?} {admission:?} {:?} {answer:?}", listed(prefix))
        }
        Call::Publish { sequence, first, prefix, epoch, keep } => {
            format!("{sequence:?} {first} {:?} {epoch:?} {keep} {answer:?}", listed(prefix))
        }
        Call::Pin { sequence, group, streams, prefix, watermark } => {
            format!("{sequence:?} {group:?} {streams:?} {:?} {watermark} {answer:?}", listed(prefix))
        }
        Call::HoldBlocks { ids, access } => {
            let mut list = Vec::new();
            ids.each(|id| list.push(id));
            format!("{list:?} {access:?} {answer:?}")
        }
        Call::AdvanceMany { steps, answers, changed } => {
            format!("{:?} {} {answers} {changed} {answer:?}", steps.iter().collect::<Vec<_>>(), steps.len())
        }
        call => format!("{} {call:?} {answer:?}", call.name()),
    }
}

#[test]
fn rows_of_a_batch_are_read_by_slot_or_as_they_were() {
    let config = PoolConfig::new(4000, 4, 200, 20);
    for (rows, tokens) in [(0, 1), (1, 1), (2, 3), (137, 1), (64, 4095), (63, 4096)] {
        let mut home = Home::new(PoolConfig { block_tokens: 5000, ..config }, 300);
        let [pool, _] = home.handles();
        let mut steps: Vec<_> = (0..rows)
            .map(|_| {
                let sequence = pool.open().expect("a slot");
                pool.admit(sequence, &Admission::full(1, 20_000)).expect("room");
                Step { sequence, tokens }
            })
            .collect();
        steps.reverse();
        let (mut answers, mut changed) = (vec![0; rows], vec![0; rows]);
        // Often enough that records go around the end of the ring.
        for _ in 0..3 {
            pool.advance_many(&steps, &mut answers, &mut changed).expect("long enough");
            let mut words = words_of(&pool);
            let newest = Dump::read(&mut words).expect("a dump").newest_first().next().expect("one");
            let Ok(Record { call: Call::AdvanceMany { steps: read, .. }, outcome, .. }) = newest else { panic!() };
            assert_eq!(read.by_slot(), tokens < 4096);
            let named = |step: &Step| (step.sequence.slot, step.tokens);
            let expected: Vec<_> = steps.iter().map(named).collect();
            assert_eq!(read.iter().map(|step| named(&step)).collect::<Vec<_>>(), expected);
            assert_eq!((read.len(), read.is_empty()), (rows, rows == 0));
            assert!(matches!(outcome.answer, Ok(Answer::Batch(batch)) if batch.advanced == rows as u32));
        }
    }
}

#[test]
fn a_full_ring_keeps_the_newest_records_whole() {
    let mut home = Home::new(CONFIG, 16);
    let [pool, _] = home.handles();
    for round in 1..200 {
        serve(&pool);
        let state = pool.ring();
        let mut words = vec![0; state.dump_words as usize];
        assert_eq!(pool.dump(&mut words), Ok(words.len()));
        let dump = Dump::read(&mut words).expect("a dump");
        assert_eq!(dump.overwritten, state.written.saturating_sub(state.capacity));
        let read: Vec<_> = dump.newest_first().collect::<Result<_, _>>().expect("whole records");
        let tickets: Vec<_> = read.iter().map(|record| record.ticket).collect();
        let newest = 8 * round - 1;
        assert_eq!(tickets, (0..=newest).rev().take(read.len()).collect::<Vec<_>>());
        assert!(read.len() >= 6 && matches!(read[0].call, Call::Complete { .. }), "{read:?}");
        if dump.overwritten > 0 {
            assert_eq!(merge(&[dump], false).unwrap_err(), Broken::Overwritten(0));
        }
    }
    assert!(pool.ring().written > 10 * pool.ring().capacity);
}

#[test]
fn a_ring_in_use_loses_the_call_to_the_record_and_nothing_else() {
    let mut home = Home::new(CONFIG, 32);
    let [pool, other] = home.handles();
    let hold = pool.recorder.ring().and_then(|ring| ring.take()).expect("nobody has it");
    let sequence = serve(&pool);
    assert_eq!(pool.advance(sequence, 1), Err(Refusal::Stale));
    assert_eq!((pool.ring().lost, pool.ring().written), (9, 0));
    assert_eq!(pool.dump(&mut vec![0; 1000]), Err(Refusal::Busy));
    drop(hold);
    serve(&pool);
    assert_eq!((pool.ring().lost, other.ring().lost), (9, 0));
    assert!(pool.ring().written > 0);
}

/// What a signal handler would see, wherever in the ring the call begins: the records before are what they are, and the
/// call under way is named.
#[test]
fn memory_looked_at_in_the_middle_of_a_call_has_whole_records_only() {
    let calls = |sequence| [Call::Open, Call::End { sequence }, Call::Advance { sequence, tokens: 7 }];
    for first in 0..3 {
        let mut home = Home::new(CONFIG, 15);
        let [pool, _] = home.handles();
        let ring = pool.recorder.ring().expect("it has one");
        let sequence = Sequence { slot: 3, pool: 0, generation: 9 };
        // Where each record begins.
        let (mut begun, mut begins) = (BTreeSet::new(), Vec::new());
        // Records of 2, 4 and 5 words, in many orders: calls begin at every place of the ring.
        for call in (0..2000).map(|round| calls(sequence)[(first + round * 7 / 4) % 3]) {
            let written = pool.ring().written;
            let mut seen = Vec::new();
            let answer: Result<(), Refusal> = pool.recorded(call, |_| {
                seen = ring.image();
                Ok(())
            });
            assert!(answer.is_ok());
            let dump = Dump::read(&mut seen).expect("a dump");
            let under_way = dump.under_way.unwrap_or_else(|| panic!("nothing is under way at word {written}"));
            assert_eq!(said(&under_way, &Ok(Answer::Done)), said(&call, &Ok(Answer::Done)));
            let tickets: Vec<_> = dump.newest_first().map(|record| record.expect("whole").ticket).collect();
            assert!(tickets.windows(2).all(|pair| pair[0] == pair[1] + 1), "at word {written}: {tickets:?}");
            // As many as fit in the ring beside what the longest record takes.
            let kept = written.min(pool.ring().capacity - 24);
            let whole = begins.iter().rev().take_while(|&&begin| written - begin <= kept).count();
            assert_eq!(tickets.len(), whole, "at word {written}: {tickets:?}");
            begun.insert(written % pool.ring().capacity);
            begins.push(written);
        }
        assert_eq!(begun.len() as u64, pool.ring().capacity, "at every place");
        assert!(Dump::read(&mut ring.image()).expect("a dump").under_way.is_none(), "nobody is in a call");
    }
}

#[test]
fn a_batch_that_is_longer_than_the_ring_is_lost_and_counted() {
    let mut home = Home::new(CONFIG, 15);
    let [pool, _] = home.handles();
    let steps = vec![Step::default(); 1000];
    let batch = pool.advance_many(&steps, &mut vec![0; 1000], &mut vec![0; 1000]).expect("long enough");
    assert_eq!((batch.refused, pool.ring().lost, pool.ring().written), (1000, 1, 0));
    // And what is there stays what it was, wherever the ring stands.
    for _ in 0..60 {
        serve(&pool);
        let before = words_of(&pool);
        pool.advance_many(&steps, &mut vec![0; 1000], &mut vec![0; 1000]).expect("long enough");
        assert_eq!(words_of(&pool)[16..], before[16..]);
    }
    assert_eq!(pool.ring().lost, 61);
}

#[test]
fn what_is_no_ring_and_no_dump_is_refused() {
    let mut home = Home::new(CONFIG, 16);
    let mut short = [Line::ZERO; RING_LINES_MIN - 1];
    let mut enough = [Line::ZERO; RING_LINES_MIN];
    assert_eq!(RING_LINES_MIN, 15, "as the header of C says");
    let [pool, _] = home.handles();
    assert_eq!(pool.recording(&mut short).err(), Some(Refusal::Invalid { argument: Argument::Memory }));
    assert!(pool.recording(&mut enough).is_ok());
    assert_eq!(pool.dump(&mut [0; 30]), Err(Refusal::Invalid { argument: Argument::Output }));
    let mut plain = pool;
    plain.recorder = super::Recorder::OFF;
    assert_eq!(plain.dump(&mut [0; 300]), Err(Refusal::Invalid { argument: Argument::Ring }));
    assert_eq!(plain.ring(), Default::default());

    serve(&pool);
    let good = words(&home.rings[0]);
    assert!(Dump::read(&mut good.clone()).is_ok());
    for (index, argument) in
        [(0, Argument::Header), (1, Argument::Header), (2, Argument::Memory), (4, Argument::Header)]
    {
        let mut bad = good.clone();
        bad[index] = u64::MAX;
        assert_eq!(Dump::read(&mut bad).err(), Some(Refusal::Invalid { argument }), "word {index}");
    }
    let mut cut = good[..good.len() - 1].to_vec();
    assert_eq!(Dump::read(&mut cut).err(), Some(Refusal::Invalid { argument: Argument::Memory }));
    assert_eq!(Dump::read(&mut []).err(), Some(Refusal::Invalid { argument: Argument::Header }));
}

#[test]
fn no_bits_of_a_dump_make_reading_it_or_making_it_again_fail() {
    let mut home = Home::new(CONFIG, 16);
    serve(&home.handles()[0]);
    let good = words(&home.rings[0]);
    let mut random = Random::new(7);
    let (mut read, mut broken) = (0, 0);
    for _ in 0..20_000 {
        let mut bad = good.clone();
        for _ in 0..1 + random.below(3) {
            let (index, bit) = (random.below(bad.len() as u32) as usize, random.below(64));
            // Not the configuration: a pool of two billion blocks would be made.
            if !(3..8).contains(&index) {
                bad[index] ^= 1 << bit;
            }
        }
        let Ok(dump) = Dump::read(&mut bad) else { continue };
        match merge(&[dump], true) {
            Ok(history) => {
                rerun(&history, false, |_, _| read += 1).expect("the configuration was not touched");
            }
            Err(_) => broken += 1,
        }
    }
    assert!(read > 1000 && broken > 1000, "{read} {broken}");
    let words: Vec<u64> = (0..400).map(|_| random.next()).collect();
    for start in 0..200 {
        let mut noise = [&good[..HEADER_WORDS], &words[start..]].concat();
        noise[2] = 100;
        noise[16] = random.next() >> random.below(64);
        if let Ok(dump) = Dump::read(&mut noise) {
            dump.newest_first().for_each(drop);
        }
    }
}

#[test]
fn a_call_that_is_unwound_is_in_the_record() {
    let mut home = Home::new(CONFIG, 16);
    let [pool, _] = home.handles();
    let unwound = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
        let answer: Result<u32, Refusal> = pool.recorded(Call::Open, |_| panic!("on purpose"));
        answer
    }));
    assert!(unwound.is_err());
    let mut words = words(&home.rings[0]);
    let history = merge(&[Dump::read(&mut words).expect("a dump")], false).expect("whole");
    let outcome = Outcome { answer: Ok(Answer::Unfinished), digest: 0, first_block: 0 };
    assert_eq!((history.records.len(), history.records[0].outcome), (1, outcome));
}
