//! Processes that are threads of one program.

use crate::Processes;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long one waits for the others before it has no sum.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct Team {
    count: usize,
    round: Mutex<Round>,
    turned: Condvar,
}

/// A sum in the making, or the one that was made last.
#[derive(Debug)]
struct Round {
    number: usize,
    arrived: usize,
    terms: Vec<Vec<f64>>,
    sum: Vec<f64>,
}

#[derive(Debug)]
struct Member {
    rank: usize,
    team: Arc<Team>,
}

/// So many processes for [`Model::share_out`](crate::Model::share_out), each of which is to be a
/// thread of this program, to compare what they do together with what one does alone. A sum is NaN
/// if one of them does not come within a minute, or comes with another number of terms.
pub fn processes(count: usize) -> Vec<Arc<dyn Processes>> {
    let round = Round {
        number: 0,
        arrived: 0,
        terms: vec![Vec::new(); count],
        sum: Vec::new(),
    };
    let team = Arc::new(Team {
        count,
        round: Mutex::new(round),
        turned: Condvar::new(),
    });
    let member = |rank| {
        let team = Arc::clone(&team);
        Arc::new(Member { rank, team }) as Arc<dyn Processes>
    };
    (0..count).map(member).collect()
}

impl Processes for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.team.count
    }

    fn sum(&self, values: &mut [f64]) {
        let mut round = self.team.round.lock().unwrap_or_else(PoisonError::into_inner);
        round.terms[self.rank] = values.to_vec();
        round.arrived += 1;
        let number = round.number;
        if round.arrived == self.team.count {
            let fit = round.terms.iter().all(|terms| terms.len() == values.len());
            let mut sum = vec![if fit { 0.0 } else { f64::NAN }; values.len()];
            // In the order of the processes: the same bits on each.
            for terms in &round.terms {
                sum.iter_mut().zip(terms).for_each(|(s, t)| *s += t);
            }
            round.sum = sum;
            round.arrived = 0;
            round.number += 1;
            self.team.turned.notify_all();
        }
        let waits = |round: &mut Round| round.number == number;
        let waited = self.team.turned.wait_timeout_while(round, PATIENCE, waits);
        let (round, late) = waited.unwrap_or_else(PoisonError::into_inner);
        match late.timed_out() || round.sum.len() != values.len() {
            true => values.fill(f64::NAN),
            false => values.copy_from_slice(&round.sum),
        }
    }
}
