//! Who waits for which run. A run is looked after once however many calls wait for it, and a waiting call costs no thread.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::contract::ids::RunId;
use crate::contract::result::RunResult;

/// How often a run that another process started is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What is known of a run at one moment.
#[derive(Debug, Clone, PartialEq)]
pub enum View {
    /// It goes on; a person may be asked to approve a save just now.
    Running {
        waiting_for_approval: bool,
    },
    Ended(Arc<RunResult>),
    /// No run of that id was ever returned.
    Unknown,
    /// The store can't be read, so nothing can be said.
    Unreadable,
}

/// Looks at a run, on a thread that may block.
pub type Look = dyn Fn(&RunId) -> View + Send + Sync;

type Ended = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The runs that somebody waits for.
pub struct Watch {
    look: Arc<Look>,
    watched: Mutex<HashMap<RunId, watch::Receiver<View>>>,
}

impl Watch {
    pub fn new(look: Arc<Look>) -> Arc<Self> {
        Arc::new(Self { look, watched: Mutex::default() })
    }

    /// Waits until the run has ended, or `wait` is over. A call that sees the run begin to wait for a person's approval
    /// returns at once; one that finds it already waiting keeps waiting. The call that began the run finds nothing: whatever it
    /// sees began under its eyes.
    pub async fn wait(self: &Arc<Self>, run_id: &RunId, wait: Duration, began_it: bool) -> View {
        let first = self.look_once(run_id).await;
        let View::Running { waiting_for_approval } = first else { return first };
        if wait.is_zero() || (began_it && waiting_for_approval) {
            return first;
        }
        match tokio::time::timeout(wait, self.settled(run_id, waiting_for_approval)).await {
            Ok(view) => view,
            // What is known now is the answer.
            Err(_) => self.look_once(run_id).await,
        }
    }

    /// What others saw may be older than what this call has seen for itself, so a change is looked at again before it counts.
    async fn settled(self: &Arc<Self>, run_id: &RunId, mut waited_before: bool) -> View {
        loop {
            let mut views = self.watched(run_id, View::Running { waiting_for_approval: waited_before });
            let news = |view: &View| *view != View::Running { waiting_for_approval: waited_before };
            let told = views.wait_for(news).await.is_ok();
            match self.look_once(run_id).await {
                View::Running { waiting_for_approval: true } if !waited_before => {
                    return View::Running { waiting_for_approval: true };
                }
                View::Running { waiting_for_approval } if told && waiting_for_approval == waited_before => {
                    // Old news: the next change is awaited.
                    let _ = views.changed().await;
                }
                View::Running { waiting_for_approval } => waited_before = waiting_for_approval,
                over => return over,
            }
        }
    }

    /// Looks after a run of this server until it has ended, whether anybody waits or not, and at once when `ended` says so.
    pub fn tend(self: &Arc<Self>, run_id: &RunId, ended: impl Future<Output = ()> + Send + 'static) {
        let (sender, receiver) = watch::channel(View::Running { waiting_for_approval: false });
        self.lock().insert(run_id.clone(), receiver);
        tokio::spawn(Arc::clone(self).look_after(run_id.clone(), sender, Some(Box::pin(ended))));
    }

    fn watched(self: &Arc<Self>, run_id: &RunId, first: View) -> watch::Receiver<View> {
        let mut watched = self.lock();
        if let Some(receiver) = watched.get(run_id) {
            return receiver.clone();
        }
        let (sender, receiver) = watch::channel(first);
        watched.insert(run_id.clone(), receiver.clone());
        tokio::spawn(Arc::clone(self).look_after(run_id.clone(), sender, None));
        receiver
    }

    async fn look_after(self: Arc<Self>, run_id: RunId, sender: watch::Sender<View>, mut ended: Option<Ended>) {
        let tended = ended.is_some();
        loop {
            let view = self.look_once(&run_id).await;
            let over = !matches!(view, View::Running { .. });
            sender.send_if_modified(|known| {
                let changed = *known != view;
                *known = view;
                changed
            });
            if over || !(tended || self.is_waited_for(&run_id, &sender)) {
                self.lock().remove(&run_id);
                return;
            }
            tokio::select! {
                () = async { if let Some(ended) = &mut ended { ended.await } }, if ended.is_some() => ended = None,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Beside the receiver that stands in the table. Told under the table's lock, so that nobody joins meanwhile.
    fn is_waited_for(&self, run_id: &RunId, sender: &watch::Sender<View>) -> bool {
        let mut watched = self.lock();
        let alone = sender.receiver_count() <= 1;
        if alone {
            watched.remove(run_id);
        }
        !alone
    }

    async fn look_once(&self, run_id: &RunId) -> View {
        let (look, run_id) = (Arc::clone(&self.look), run_id.clone());
        tokio::task::spawn_blocking(move || look(&run_id))
            .await
            .unwrap_or(View::Running { waiting_for_approval: false })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, watch::Receiver<View>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// How often a run that waits for approval all the time was looked at before a call was answered.
    async fn looks(began_it: bool) -> usize {
        let count = Arc::new(AtomicUsize::new(0));
        let counting = Arc::clone(&count);
        let watch = Watch::new(Arc::new(move |_: &RunId| {
            counting.fetch_add(1, Ordering::SeqCst);
            View::Running { waiting_for_approval: true }
        }));
        let view = watch.wait(&RunId::random(), Duration::from_millis(20), began_it).await;
        assert_eq!(view, View::Running { waiting_for_approval: true });
        count.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn the_call_that_began_a_run_is_told_at_once_and_another_keeps_waiting() {
        assert_eq!(looks(true).await, 1);
        assert!(looks(false).await > 1);
    }
}
