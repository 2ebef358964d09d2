//! N10, Qwen-Bailian JSONL: Mooncake's keys, but `timestamp` is in seconds and an id names 16 tokens; besides them `chat_id`
//! and `parent_chat_id` (−1 for the first request of a conversation). A chat and all that goes back to it are a session.

use super::error::TraceError;
use super::field::{Field, Unit};
use super::lines::Lines;
use super::rows::{Row, Rows};
use super::{jsonl, mooncake};
use std::collections::HashMap;

/// What a line must have besides [`mooncake::KEYS`].
pub const KEYS: [&str; 1] = ["chat_id"];
/// Tokens of one id, unless something else is said.
pub const ID_TOKENS: u32 = 16;

/// Reads one file. Chats are numbered within it.
pub fn read(lines: Lines, rows: &mut Rows) -> Result<(), TraceError> {
    let mut sessions: HashMap<u64, u32> = HashMap::new();
    jsonl::objects(lines, |line| {
        let chat = line.field("chat_id")?.whole(u64::MAX)?;
        let parent = line.optional("parent_chat_id")?.map_or(Ok(None), |parent| parent_of(&parent))?;
        // A parent that was cut away makes a session of its own: its children are one conversation all the same.
        let root = parent.map(|parent| *sessions.entry(parent).or_insert_with(|| rows.new_session()));
        let session = match root {
            Some(root) => {
                sessions.insert(chat, root);
                root
            }
            None => *sessions.entry(chat).or_insert_with(|| rows.new_session()),
        };
        let (row, ids) = mooncake::row(line, Unit::Seconds, rows)?;
        rows.add(line.place(), Row { session: Some(session), ..row }, &ids);
        Ok(())
    })
}

fn parent_of(parent: &Field<'_>) -> Result<Option<u64>, TraceError> {
    if parent.text.trim() == "-1" {
        return Ok(None);
    }
    let chat = parent.whole(u64::MAX).map_err(|_| parent.refuse("give the number of a chat, or -1 for none"))?;
    Ok(Some(chat))
}
