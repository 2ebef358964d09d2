//! The real pool behind a script, and what the script's names stand for.

use super::command::{Command, Key};
use kvledger_core::{Account, Admission, Epoch, Group, Pool, Promise, Refusal, Sequence, Snapshot, Stream};
use std::collections::BTreeMap;

/// An account that there never was.
const NOBODYS: Account = Account { slot: 0, pool: 0, generation: u64::MAX };

/// A pool under a script.
pub(super) struct Machine<'m> {
    pool: Pool<'m>,
    sequences: BTreeMap<String, Sequence>,
    accounts: BTreeMap<String, Account>,
    epochs: BTreeMap<String, (Stream, Epoch)>,
    /// The word of the last answer.
    answer: &'static str,
}

impl<'m> Machine<'m> {
    pub(super) fn new(pool: Pool<'m>) -> Machine<'m> {
        let (sequences, accounts, epochs) = Default::default();
        Machine { pool, sequences, accounts, epochs, answer: "OK" }
    }

    /// What the pool says of itself.
    pub(super) fn snapshot(&self) -> Snapshot {
        self.pool.snapshot()
    }

    /// The answer of a command, in words. Err: a name that stands for nothing, or an expectation that does not hold.
    pub(super) fn make(&mut self, command: &Command) -> Result<String, String> {
        if let Command::Expect { all } = command {
            return self.expect(all).map(|()| String::new());
        }
        let answered = self.answer(command)?;
        self.answer = answered.as_ref().map_or_else(Refusal::word, |_| "OK");
        Ok(answered.unwrap_or_else(|refusal| refusal.to_string()))
    }

    fn answer(&mut self, command: &Command) -> Result<Result<String, Refusal>, String> {
        let pool = self.pool;
        Ok(match command {
            Command::Pool | Command::Expect { .. } => Ok("OK".to_string()),
            Command::Open { name } => {
                let opened = pool.open();
                // Who was refused has a name that is nobody's: what he asks for is answered STALE.
                self.sequences.insert(name.clone(), opened.unwrap_or_default());
                opened.map(|_| "OK".to_string())
            }
            Command::Admit { name, .. } => {
                let (sequence, admission) = (self.sequence(name)?, self.admission(command)?);
                pool.admit(sequence, &admission).map(|admitted| format!("OK, {} promised", admitted.promised))
            }
            Command::Advance { name, tokens } => taken(pool.advance(self.sequence(name)?, *tokens)),
            Command::Grow { name, tokens, watermark } => {
                taken(pool.advance_growing(self.sequence(name)?, *tokens, *watermark))
            }
            Command::Materialize { name, blocks } => taken(pool.materialize(self.sequence(name)?, *blocks)),
            Command::Extend { name, blocks } => done(pool.extend(self.sequence(name)?, *blocks, 0)),
            Command::Shrink { name, blocks } => {
                pool.shrink(self.sequence(name)?, *blocks).map(|returned| format!("OK, {returned} back"))
            }
            Command::Draw { name, blocks } => done(pool.draw_safety(self.sequence(name)?, *blocks)),
            Command::Cancel { name } => done(pool.cancel(self.sequence(name)?)),
            Command::End { name } => released(pool.end(self.sequence(name)?)),
            Command::Preempt { name } => released(pool.preempt(self.sequence(name)?)),
            Command::Submit { name, stream } => {
                let epoch = pool.submit(Stream(*stream));
                self.epochs.insert(name.clone(), (Stream(*stream), epoch.unwrap_or_default()));
                epoch.map(|epoch| format!("OK, epoch {}", epoch.0))
            }
            Command::Complete { name, failed } => {
                let &(stream, epoch) = self.epochs.get(name).ok_or(format!("`{name}` was never submitted"))?;
                pool.complete(stream, epoch, *failed).map(|frontier| format!("OK, frontier {}", frontier.0))
            }
            Command::Safety { blocks } => done(pool.set_safety(*blocks)),
            Command::Quota { group, blocks } => done(pool.set_quota(Group(*group), *blocks)),
            Command::Account { name, total, group } => {
                let opened = pool.open_account(Group(*group), *total, 0);
                self.accounts.insert(name.clone(), opened.unwrap_or(NOBODYS));
                opened.map(|_| "OK".to_string())
            }
            Command::Total { name, total } => done(pool.set_account_total(self.account(name)?, *total)),
            Command::Close { name } => done(pool.close_account(self.account(name)?)),
            Command::Reclaim { blocks } => Ok(format!("OK, {} back", pool.reclaim(*blocks))),
        })
    }

    fn admission(&self, command: &Command) -> Result<Admission, String> {
        let Command::Admit { prompt, output, blocks, watermark, group, account, .. } = command else {
            return Err("not an admission".to_string());
        };
        let account = account.as_ref().map_or(Ok(Account::NONE), |name| self.account(name))?;
        Ok(Admission {
            promise: blocks.map_or(Promise::Full, Promise::Blocks),
            watermark: *watermark,
            group: Group(*group),
            account,
            ..Admission::full(*prompt, *output)
        })
    }

    fn sequence(&self, name: &str) -> Result<Sequence, String> {
        self.sequences.get(name).copied().ok_or_else(|| format!("`{name}` was never opened"))
    }

    fn account(&self, name: &str) -> Result<Account, String> {
        self.accounts.get(name).copied().ok_or_else(|| format!("there was never an account `{name}`"))
    }

    fn expect(&self, all: &[(Key, String)]) -> Result<(), String> {
        let now = self.snapshot();
        let wrong: Vec<String> = all
            .iter()
            .filter_map(|(key, expected)| {
                let found = self.value(*key, &now);
                (found != *expected).then(|| format!("{} is {found}, not {expected}", key.name()))
            })
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join(", ")) }
    }

    fn value(&self, key: Key, now: &Snapshot) -> String {
        let number = match key {
            Key::Committed => now.committed,
            Key::Promised => now.promised,
            Key::Safety => now.safety,
            Key::Used => now.committed + now.promised + now.safety,
            Key::Headroom => now.blocks - now.committed - now.promised - now.safety,
            Key::Free => now.free,
            Key::Retiring => now.retiring,
            Key::Sequences => now.sequences,
            Key::Answer => return self.answer.to_string(),
        };
        number.to_string()
    }
}

fn done(answer: Result<(), Refusal>) -> Result<String, Refusal> {
    answer.map(|()| "OK".to_string())
}

fn taken(answer: Result<kvledger_core::Advanced, Refusal>) -> Result<String, Refusal> {
    answer.map(|advanced| format!("OK, {} taken, {} entries", advanced.taken, advanced.entries))
}

fn released(answer: Result<kvledger_core::Released, Refusal>) -> Result<String, Refusal> {
    answer.map(|released| match released.retiring {
        0 => format!("OK, {} promised and {} blocks back", released.promised, released.free),
        retiring => {
            format!("OK, {} promised and {} blocks back, {retiring} retiring", released.promised, released.free)
        }
    })
}
