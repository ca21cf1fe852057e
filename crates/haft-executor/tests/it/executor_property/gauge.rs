//! A gauge that counts concurrent handlers, from inside the handlers.

use std::sync::{Arc, Mutex};

/// The concurrency class of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Shared,
    Exclusive,
    Keyed(&'static str),
    Max(usize),
}

/// The place where a handler runs: a task or a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    Task,
    Thread,
}

/// A gauge that all handlers of a batch share.
#[derive(Clone)]
pub(super) struct Gauge(Arc<Mutex<Readings>>);

#[derive(Default)]
struct Readings {
    most: usize,
    running: Vec<(Class, Spot)>,
    breaches: Vec<String>,
}

/// A handler that runs, until it is dropped.
pub(super) struct Running {
    gauge: Gauge,
    entry: (Class, Spot),
}

impl Gauge {
    /// Creates a gauge with this concurrency limit; zero means none.
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Mutex::new(Readings { most, ..Readings::default() })))
    }

    /// Counts a handler that begins, and records a violation if it exceeds a limit.
    pub(super) fn enter(&self, class: Class, spot: Spot) -> Running {
        let mut readings = self.0.lock().unwrap();
        let Readings { most, running, breaches } = &mut *readings;
        let alike = running.iter().filter(|(other, _)| *other == class).count();
        let is_too_many = match class {
            Class::Shared => false,
            Class::Exclusive => !running.is_empty(),
            Class::Keyed(_) => alike > 0,
            Class::Max(most) => alike >= most,
        };
        if is_too_many
            || running.iter().any(|(other, _)| *other == Class::Exclusive)
            || (*most > 0 && running.len() >= *most)
        {
            breaches.push(format!("{class:?} began beside {running:?}, at most {most}"));
        }
        running.push((class, spot));
        Running { gauge: self.clone(), entry: (class, spot) }
    }

    /// Records another violation.
    pub(super) fn breach(&self, what: String) {
        self.0.lock().unwrap().breaches.push(what);
    }

    /// Returns the number of running handlers.
    pub(super) fn live(&self) -> usize {
        self.0.lock().unwrap().running.len()
    }

    /// Returns the number of handlers that run in tasks.
    pub(super) fn live_in_tasks(&self) -> usize {
        self.0.lock().unwrap().running.iter().filter(|(_, spot)| *spot == Spot::Task).count()
    }

    pub(super) fn breaches(&self) -> Vec<String> {
        self.0.lock().unwrap().breaches.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut readings = self.gauge.0.lock().unwrap();
        let place = readings.running.iter().position(|entry| *entry == self.entry);
        place.map(|place| readings.running.swap_remove(place));
    }
}
