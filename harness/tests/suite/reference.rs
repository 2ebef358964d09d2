//! The rules of the replay (`harness/RULES.md`), written the obvious way: step by step, over plain integers, with a list of who runs and a queue
//! of who waits. Nothing here is shared with the engine but the types of settings and results.

use kvledger_harness::replay::{Counters, Exceed, Outcome, Policy, PoolSize, Record, Settings};
use std::collections::VecDeque;

/// Arrival in microseconds, prompt tokens, output tokens.
pub type Request = (u64, u32, u32);

#[derive(Clone, Default)]
struct State {
    arrival_step: u64,
    prompt: u64,
    output: u64,
    generated: u64,
    held: u64,
    promised: u64,
}

struct Reference {
    settings: Settings,
    states: Vec<State>,
    records: Vec<Record>,
    running: Vec<usize>,
    queue: VecDeque<usize>,
    counters: Counters,
    now: u64,
}

/// Runs the rules. Requests are in order of arrival.
pub fn simulate(requests: &[Request], settings: &Settings) -> (Counters, Vec<Record>) {
    let states = requests.iter().map(|&(arrival_us, prompt, output)| State {
        arrival_step: arrival_us.div_ceil(settings.step_us),
        prompt: prompt.into(),
        output: output.into(),
        ..State::default()
    });
    let mut reference = Reference {
        settings: *settings,
        states: states.collect(),
        records: vec![Record::default(); requests.len()],
        running: Vec::new(),
        queue: VecDeque::new(),
        counters: Counters { requests: requests.len() as u64, ..Counters::default() },
        now: 0,
    };
    reference.run();
    (reference.counters, reference.records)
}

impl Reference {
    fn run(&mut self) {
        let mut next = 0;
        loop {
            if self.running.is_empty() && self.queue.is_empty() {
                if next == self.states.len() {
                    return;
                }
                self.now = self.states[next].arrival_step;
            }
            while next < self.states.len() && self.states[next].arrival_step <= self.now {
                self.arrive(next);
                next += 1;
            }
            self.admit();
            self.decode();
            self.measure();
            self.complete();
            self.now += 1;
        }
    }

    fn blocks(&self, tokens: u64) -> u64 {
        tokens.div_ceil(u64::from(self.settings.block_tokens))
    }

    fn n(&self) -> u64 {
        match self.settings.pool {
            PoolSize::Blocks(blocks) => blocks.into(),
            PoolSize::Unlimited => 0,
        }
    }

    fn s(&self) -> u64 {
        self.settings.safety.into()
    }

    fn m(&self) -> u64 {
        self.settings.max_context.into()
    }

    fn used(&self) -> u64 {
        self.running.iter().map(|&i| self.states[i].held).sum()
    }

    fn promised(&self) -> u64 {
        self.running.iter().map(|&i| self.states[i].promised.saturating_sub(self.states[i].held)).sum()
    }

    fn capped(&self, tokens: u64) -> u64 {
        if self.m() == 0 { tokens } else { tokens.min(self.m()) }
    }

    fn arrive(&mut self, i: usize) {
        let (prompt, total) = (self.states[i].prompt, self.states[i].prompt + self.states[i].output);
        if self.m() > 0 && total > self.m() {
            self.counters.rejected_ctx += 1;
            self.records[i].outcome = Outcome::RejectedContext;
            return;
        }
        let whole = self.blocks(total);
        let promise = match self.settings.policy {
            Policy::Contig => self.blocks(self.m()),
            Policy::Percentile { q_tokens, .. } => whole.max(self.blocks(self.capped(prompt + u64::from(q_tokens)))),
            _ => whole,
        };
        if self.n() > 0 && whole.max(promise) > self.n() - self.s() {
            self.counters.rejected_pool += 1;
            self.records[i].outcome = Outcome::RejectedPool;
            return;
        }
        self.queue.push_back(i);
    }

    fn promise(&self, i: usize) -> u64 {
        let state = &self.states[i];
        let tokens = state.prompt + state.generated;
        let now = self.blocks(tokens);
        match self.settings.policy {
            Policy::Full => self.blocks(state.prompt + state.output),
            Policy::Contig => self.blocks(self.m()),
            Policy::Incremental => now,
            Policy::Percentile { q_tokens, .. } if self.records[i].admit.is_none() => {
                now.max(self.blocks(self.capped(state.prompt + u64::from(q_tokens))))
            }
            Policy::Percentile { q_tokens, .. } => {
                let likely = self.blocks(tokens + u64::from(q_tokens));
                now.max(if self.n() == 0 { likely } else { likely.min(self.n() - self.s()) })
            }
        }
    }

    fn admit(&mut self) {
        while let Some(&i) = self.queue.front() {
            let cap = self.settings.max_running as usize;
            let promise = self.promise(i);
            let fits = self.n() == 0 || self.used() + self.promised() + promise + self.s() <= self.n();
            if !fits || (cap > 0 && self.running.len() >= cap) {
                break;
            }
            self.queue.pop_front();
            self.running.push(i);
            let needed = self.blocks(self.states[i].prompt + self.states[i].generated);
            let state = &mut self.states[i];
            state.promised = promise;
            state.held = if self.settings.policy == Policy::Contig { promise } else { needed };
            self.counters.blocks_allocated += state.held;
            self.counters.admissions += 1;
            if self.records[i].admit.is_none() {
                self.records[i].admit = Some(self.now);
                let wait = self.now - state.arrival_step;
                self.counters.sum_wait += wait;
                self.counters.max_wait = self.counters.max_wait.max(wait);
            }
        }
        self.counters.peak_queue = self.counters.peak_queue.max(self.queue.len() as u64);
    }

    fn decode(&mut self) {
        for i in self.running.clone() {
            if !self.running.contains(&i) {
                continue;
            }
            let state = &self.states[i];
            if self.blocks(state.prompt + state.generated + 1) > state.held && !self.grow(i) {
                continue;
            }
            self.states[i].generated += 1;
        }
    }

    /// One block more; whether the sequence still runs.
    fn grow(&mut self, i: usize) -> bool {
        if self.states[i].held == self.states[i].promised {
            match self.settings.policy {
                Policy::Incremental => {
                    while self.n() > 0 && self.used() == self.n() {
                        let youngest = *self.running.last().expect("the requester runs");
                        self.preempt(youngest);
                        if youngest == i {
                            return false;
                        }
                    }
                }
                Policy::Percentile { exceed, .. } => {
                    if !self.exceed(i, exceed) {
                        return false;
                    }
                    self.counters.exceed_blocks += 1;
                }
                Policy::Contig | Policy::Full => panic!("went beyond a promise of everything"),
            }
            self.states[i].promised += 1;
        }
        self.states[i].held += 1;
        self.counters.blocks_allocated += 1;
        true
    }

    fn exceed(&mut self, i: usize, exceed: Exceed) -> bool {
        self.counters.exceed_requests += u64::from(!self.records[i].exceeded);
        self.records[i].exceeded = true;
        while self.n() > 0 && self.used() + self.promised() + 1 + self.s() > self.n() {
            match exceed {
                Exceed::PreemptSelf => self.preempt(i),
                Exceed::PreemptYoungest => self.preempt(*self.running.last().expect("the requester runs")),
                Exceed::Truncate => {
                    self.running.retain(|&other| other != i);
                    self.records[i].outcome = Outcome::Truncated;
                    self.records[i].finish = Some(self.now);
                    self.counters.truncated += 1;
                }
            }
            if !self.running.contains(&i) {
                return false;
            }
        }
        true
    }

    fn preempt(&mut self, i: usize) {
        self.running.retain(|&other| other != i);
        self.counters.preemptions += 1;
        self.counters.lost_tokens += self.states[i].prompt + self.states[i].generated;
        self.records[i].preempts += 1;
        self.queue.push_front(i);
    }

    fn measure(&mut self) {
        let (used, committed) = (self.used(), self.used() + self.promised());
        let tokens: u64 = self.running.iter().map(|&i| self.states[i].prompt + self.states[i].generated).sum();
        let running = self.running.len() as u64;
        let counters = &mut self.counters;
        counters.busy_steps += 1;
        counters.end_step = self.now;
        counters.sum_used += used;
        counters.sum_committed += committed;
        counters.sum_tokens += tokens;
        counters.sum_running += running;
        counters.peak_used = counters.peak_used.max(used);
        counters.peak_committed = counters.peak_committed.max(committed);
        counters.peak_running = counters.peak_running.max(running);
    }

    fn complete(&mut self) {
        for i in self.running.clone() {
            if self.states[i].generated == self.states[i].output {
                self.running.retain(|&other| other != i);
                self.records[i].outcome = Outcome::Completed;
                self.records[i].finish = Some(self.now);
                self.counters.completed += 1;
            }
        }
    }
}
