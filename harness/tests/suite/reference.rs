//! The rules of the replay (`harness/RULES.md`), written the obvious way: step by step, over plain integers, with a list of
//! who runs, a queue of who waits, a map of who holds what is known, and a list of what is kept. Nothing here is shared with
//! the engine but the types of settings and results.

use kvledger_harness::prefix::GroupRule;
use kvledger_harness::replay::{Counters, Exceed, Outcome, Policy, PoolSize, Record, Settings, Sharing};
use std::collections::{HashMap, VecDeque};

/// A request, and what its tokens are: each id names the next `id_tokens` of the trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Request {
    pub arrival_us: u64,
    pub prompt: u32,
    pub output: u32,
    pub tenant: u64,
    pub ids: Vec<u64>,
}

impl Request {
    /// Without ids.
    pub fn plain(arrival_us: u64, prompt: u32, output: u32) -> Request {
        Request { arrival_us, prompt, output, ..Request::default() }
    }
}

/// A block by its rule: the group, the block before it, and which tokens of which ids it has.
type Identity = (u64, Option<usize>, Vec<(u64, u64)>);

#[derive(Clone, Default)]
struct State {
    /// The identified blocks of its prompt.
    names: Vec<usize>,
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
    /// How many running requests hold a known block.
    holders: HashMap<usize, u64>,
    /// Known blocks that nobody holds, in the order in which they were let go.
    kept: Vec<usize>,
    counters: Counters,
    now: u64,
}

/// Runs the rules. Requests are in order of arrival.
pub fn simulate(requests: &[Request], id_tokens: u32, settings: &Settings) -> (Counters, Vec<Record>) {
    let mut names = HashMap::new();
    let states = requests.iter().enumerate().map(|(i, request)| State {
        names: identified(i, request, id_tokens, settings, &mut names),
        arrival_step: request.arrival_us.div_ceil(settings.step_us),
        prompt: request.prompt.into(),
        output: request.output.into(),
        ..State::default()
    });
    let mut reference = Reference {
        settings: *settings,
        states: states.collect(),
        records: vec![Record::default(); requests.len()],
        running: Vec::new(),
        queue: VecDeque::new(),
        holders: HashMap::new(),
        kept: Vec::new(),
        counters: Counters { requests: requests.len() as u64, ..Counters::default() },
        now: 0,
    };
    reference.run();
    (reference.counters, reference.records)
}

/// K: what the identified blocks of a request are called.
fn identified(
    i: usize,
    request: &Request,
    id_tokens: u32,
    settings: &Settings,
    names: &mut HashMap<Identity, usize>,
) -> Vec<usize> {
    if settings.sharing == Sharing::Off || settings.policy == Policy::Contig {
        return Vec::new();
    }
    let of = |number: usize| request.ids.get(number.min(request.ids.len().saturating_sub(1))).copied().unwrap_or(0);
    let group = match settings.group {
        GroupRule::One => 0,
        GroupRule::Solo => i as u64,
        GroupRule::Tenant => request.tenant,
        GroupRule::Index(k) => i as u64 % u64::from(k),
        GroupRule::SecondSegment(k) => of(1) % u64::from(k),
    };
    let (block, id_tokens) = (u64::from(settings.block_tokens), u64::from(id_tokens));
    let named = (request.ids.len() as u64 * id_tokens).min(request.prompt.into());
    let mut all = Vec::new();
    for number in 0..named / block {
        let tokens = number * block..(number + 1) * block;
        let pieces = tokens.map(|token| (request.ids[(token / id_tokens) as usize], token % id_tokens)).collect();
        let next = names.len();
        all.push(*names.entry((group, all.last().copied(), pieces)).or_insert(next));
    }
    all
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
        let private =
            |&i: &usize| self.states[i].held - self.states[i].names.len().min(self.states[i].held as usize) as u64;
        self.running.iter().map(private).sum::<u64>() + self.holders.len() as u64
    }

    /// Room for a new block.
    fn make_room(&mut self) {
        if self.n() > 0 && self.used() + self.kept.len() as u64 == self.n() {
            self.kept.remove(0);
            self.counters.evictions += 1;
        }
    }

    /// The blocks of who does not run any more.
    fn release(&mut self, i: usize) {
        for name in self.states[i].names.iter().rev() {
            let holders = self.holders.get_mut(name).expect("a running request holds its blocks");
            *holders -= 1;
            if *holders == 0 {
                self.holders.remove(name);
                if self.settings.sharing == Sharing::Retain {
                    self.kept.push(*name);
                }
            }
        }
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
            let names = self.states[i].names.clone();
            let is_known = |name: &&usize| self.holders.contains_key(name) || self.kept.contains(name);
            let hits = names.iter().take_while(is_known).count();
            let live = names[..hits].iter().filter(|name| self.holders.contains_key(name)).count() as u64;
            let fits = self.n() == 0 || self.used() + self.promised() + promise - live + self.s() <= self.n();
            if !fits || (cap > 0 && self.running.len() >= cap) {
                break;
            }
            self.queue.pop_front();
            self.running.push(i);
            let needed = self.blocks(self.states[i].prompt + self.states[i].generated);
            let needed = if self.settings.policy == Policy::Contig { promise } else { needed };
            self.states[i].promised = promise;
            self.states[i].held = hits as u64;
            for name in &names[..hits] {
                self.kept.retain(|kept| kept != name);
                *self.holders.entry(*name).or_insert(0) += 1;
            }
            for block in hits..needed as usize {
                self.make_room();
                self.states[i].held += 1;
                if let Some(&name) = names.get(block) {
                    self.holders.insert(name, 1);
                }
            }
            self.counters.blocks_allocated += needed - hits as u64;
            self.counters.admissions += 1;
            self.records[i].hits += hits as u64;
            if self.records[i].admit.is_none() {
                self.counters.hit_first += hits as u64;
                self.counters.lookup_first += names.len() as u64;
            } else {
                self.counters.hit_re += hits as u64;
            }
            let state = &self.states[i];
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
        self.make_room();
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
                    self.release(i);
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
        self.release(i);
        self.counters.preemptions += 1;
        self.counters.lost_tokens += self.states[i].prompt + self.states[i].generated;
        self.records[i].preempts += 1;
        self.queue.push_front(i);
    }

    fn measure(&mut self) {
        let (used, committed) = (self.used(), self.used() + self.promised());
        let tokens: u64 = self.running.iter().map(|&i| self.states[i].prompt + self.states[i].generated).sum();
        let running = self.running.len() as u64;
        let kept = self.kept.len() as u64;
        let counters = &mut self.counters;
        counters.peak_cached = counters.peak_cached.max(kept);
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
                self.release(i);
                self.records[i].outcome = Outcome::Completed;
                self.records[i].finish = Some(self.now);
                self.counters.completed += 1;
            }
        }
    }
}
