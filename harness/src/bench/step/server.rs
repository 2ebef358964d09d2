//! A server's inner loop without the model: a fixed number of sequences run, each makes one token a step, and who is
//! through is replaced.

use kvledger_core::model::Random;
use kvledger_core::{Admission, Epoch, Line, Pool, PoolConfig, Sequence, Step, Stream};

/// B.
pub const BLOCK_TOKENS: u32 = 16;

/// Longest prompt and longest output; both are uniform from 1 on.
const PROMPT_TOKENS_MAX: u32 = 2048;
const OUTPUT_TOKENS_MAX: u32 = 512;

/// Blocks of the longest sequence.
pub const WIDTH: u32 = (PROMPT_TOKENS_MAX + OUTPUT_TOKENS_MAX).div_ceil(BLOCK_TOKENS);

/// Steps before the first that counts, so that the sequences are at all ages.
pub const WARM_STEPS: u32 = 2 * OUTPUT_TOKENS_MAX;

/// The loop.
pub struct Server<'m> {
    pool: Pool<'m>,
    /// The same pool through a handle that records, if there is one.
    recording: Option<Pool<'m>>,
    random: Random,
    steps: Vec<Step>,
    /// Tokens that each still makes.
    left: Vec<u32>,
    answers: Vec<u32>,
    changed: Vec<u32>,
    /// By slot: its place in `steps`.
    places: Vec<u32>,
    /// A copy of the table, row by row, as a device would be sent it.
    copy: Vec<u32>,
    csr: Csr,
}

/// The table packed.
struct Csr {
    sequences: Vec<Sequence>,
    starts: Vec<u32>,
    indices: Vec<u32>,
    lasts: Vec<u32>,
}

/// A pool for so many sequences, twice as large as they can need: no step is refused.
pub fn config(running: u32) -> PoolConfig {
    PoolConfig::new(running * WIDTH * 2, BLOCK_TOKENS, running, WIDTH)
}

impl<'m> Server<'m> {
    /// All sequences admitted, none of them old.
    pub fn new(pool: Pool<'m>) -> Server<'m> {
        let rows = pool.config().sequences as usize;
        let mut server = Server {
            pool,
            recording: None,
            random: Random::new(1),
            steps: Vec::with_capacity(rows),
            left: Vec::with_capacity(rows),
            answers: vec![0; rows],
            changed: vec![0; rows],
            places: vec![0; rows],
            copy: vec![0; rows * WIDTH as usize],
            csr: Csr {
                sequences: Vec::with_capacity(rows),
                starts: vec![0; rows + 1],
                indices: vec![0; rows * WIDTH as usize],
                lasts: vec![0; rows],
            },
        };
        for place in 0..rows {
            let (sequence, output) = server.start();
            server.places[sequence.slot as usize] = place as u32;
            server.steps.push(Step { sequence, tokens: 1 });
            server.left.push(output);
        }
        server
    }

    fn start(&mut self) -> (Sequence, u32) {
        let prompt = 1 + self.random.below(PROMPT_TOKENS_MAX);
        let output = 1 + self.random.below(OUTPUT_TOKENS_MAX);
        let sequence = self.pool.open().expect("there are as many slots as sequences");
        self.pool
            .admit(sequence, &Admission::full(prompt, output))
            .expect("the pool holds every sequence at its longest");
        self.pool.advance(sequence, prompt).expect("what was promised is there");
        (sequence, output)
    }

    /// Work is launched; its epoch is the answer.
    pub fn submit(&mut self) -> Epoch {
        self.pool.submit(Stream(0)).expect("one epoch is outstanding at a time")
    }

    /// The work is over.
    pub fn complete(&mut self, epoch: Epoch) {
        self.pool.complete(Stream(0), epoch, false).expect("it was submitted");
    }

    /// From now on there is a handle that records in `ring`.
    pub fn record_in(&mut self, ring: &'m mut [Line]) {
        self.recording = Some(self.pool.recording(ring).expect("a ring is a few lines"));
    }

    /// One token each. Blocks taken, and rows of the table that changed.
    #[inline]
    pub fn advance(&mut self) -> (u32, u32) {
        self.advance_through(self.pool)
    }

    /// The same, recorded if there is a handle that does.
    #[inline]
    pub fn advance_recorded(&mut self) -> (u32, u32) {
        self.advance_through(self.recording.unwrap_or(self.pool))
    }

    #[inline(always)]
    fn advance_through(&mut self, pool: Pool<'m>) -> (u32, u32) {
        let batch = pool.advance_many(&self.steps, &mut self.answers, &mut self.changed);
        let batch = batch.expect("the arrays are long enough");
        assert_eq!(batch.advanced as usize, self.steps.len(), "what was promised is there");
        (batch.taken, batch.changed)
    }

    /// Copies the rows that changed in the last step to the copy of the table.
    #[inline]
    pub fn export_changed(&mut self, changed: u32) {
        for &slot in &self.changed[..changed as usize] {
            let sequence = self.steps[self.places[slot as usize] as usize].sequence;
            let row = &mut self.copy[slot as usize * WIDTH as usize..][..WIDTH as usize];
            self.pool.export_row(sequence, row).expect("a row of the copy is as wide as the table");
        }
    }

    /// Packs the rows of all sequences, for kernels that take them so. Indices used.
    #[inline]
    pub fn export_csr(&mut self) -> u32 {
        let csr = &mut self.csr;
        csr.sequences.clear();
        csr.sequences.extend(self.steps.iter().map(|step| step.sequence));
        let used = self.pool.export_csr(&csr.sequences, &mut csr.starts, &mut csr.indices, &mut csr.lasts);
        used.expect("the arrays are long enough")
    }

    /// Replaces who is through. How many.
    #[inline]
    pub fn replace(&mut self) -> u32 {
        let mut replaced = 0;
        for place in 0..self.steps.len() {
            self.left[place] -= 1;
            if self.left[place] == 0 {
                self.pool.end(self.steps[place].sequence).expect("it runs");
                let (sequence, output) = self.start();
                self.places[sequence.slot as usize] = place as u32;
                (self.steps[place].sequence, self.left[place]) = (sequence, output);
                replaced += 1;
            }
        }
        replaced
    }
}
