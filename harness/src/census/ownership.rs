//! Whose requests they are.

use crate::trace::Trace;
use serde::Serialize;
use std::collections::HashMap;

/// Whose requests they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Ownership {
    /// Different tenants; 1 where the format does not say.
    pub tenants: usize,
    /// Most requests of one of them.
    pub tenant_requests_max: usize,
    /// Different conversations; 0 where the format does not say.
    pub sessions: usize,
    /// Requests that belong to one of them.
    pub session_requests: usize,
    /// Most requests of one of them.
    pub session_requests_max: usize,
}

impl Ownership {
    /// Counts tenants and conversations of `trace`.
    pub fn of(trace: &Trace) -> Ownership {
        let mut tenants: HashMap<u64, usize> = HashMap::new();
        let mut sessions: HashMap<u32, usize> = HashMap::new();
        for request in &trace.requests {
            *tenants.entry(request.tenant).or_default() += 1;
            if let Some(session) = request.session {
                *sessions.entry(session).or_default() += 1;
            }
        }
        Ownership {
            tenants: tenants.len(),
            tenant_requests_max: tenants.values().copied().max().unwrap_or(0),
            sessions: sessions.len(),
            session_requests: sessions.values().sum(),
            session_requests_max: sessions.values().copied().max().unwrap_or(0),
        }
    }
}
