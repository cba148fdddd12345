//! Which appends the elements of lists may be, where elements were appended several times.

use rustc_hash::FxHashMap;
use seriatim_history::{History, KeyId, OpId, OpKind, Status, Value, ValueKind};

/// For each key with lists the appends that the elements of its longest list are.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice(Vec<(KeyId, Vec<OpId>)>);

/// All that was read and appended by transactions that did not abort.
pub(super) struct Lists<'h> {
    history: &'h History,
    reads: Vec<(OpId, KeyId, &'h [Value])>,
    appends: FxHashMap<(KeyId, Value), Vec<OpId>>,
}

impl<'h> Lists<'h> {
    pub fn of(history: &'h History) -> Lists<'h> {
        let mut lists = Lists { history, reads: Vec::new(), appends: FxHashMap::default() };
        for txn in history.txns().filter(|&txn| history.status(txn) != Status::Aborted) {
            for id in history.ops_of(txn).map(OpId) {
                let op = history.op(id);
                match (op.kind, op.value.kind()) {
                    (OpKind::Append, _) => {
                        lists.appends.entry((op.key, op.value)).or_default().push(id);
                    }
                    (OpKind::Read, ValueKind::List(number)) => {
                        lists.reads.push((id, op.key, history.list(number)));
                    }
                    _ => {}
                }
            }
        }
        lists
    }

    /// Every choice, if there are several but not more than `max`, and if the lists of each key are
    /// prefixes of each other.
    pub fn choices(&self, max: usize) -> Option<Vec<Choice>> {
        let mut choices = vec![Choice::default()];
        for (key, list) in self.longest()? {
            let mut ways = Ways { lists: self, key, list, max, found: Vec::new() };
            ways.extend(&mut Vec::new());
            if choices.len() * ways.found.len() > max {
                return None;
            }
            let with = |choice: &Choice| {
                let choice = choice.clone();
                let way =
                    move |way: &Vec<OpId>| Choice([&choice.0[..], &[(key, way.clone())]].concat());
                ways.found.iter().map(way).collect::<Vec<_>>()
            };
            choices = choices.iter().flat_map(with).collect();
        }
        Some(choices).filter(|choices| choices.len() > 1)
    }

    /// The longest list of each key, in the order of keys.
    fn longest(&self) -> Option<Vec<(KeyId, &'h [Value])>> {
        let mut longest: FxHashMap<KeyId, &[Value]> = FxHashMap::default();
        for &(read, key, list) in &self.reads {
            // A transaction of unknown outcome that nothing read from is as if it were not there.
            if self.history.status(self.history.txn_of(read)) == Status::Unknown {
                continue;
            }
            let known = longest.entry(key).or_insert(list);
            let (shorter, longer) =
                if list.len() > known.len() { (*known, list) } else { (list, *known) };
            if !longer.starts_with(shorter) {
                return None;
            }
            *known = longer;
        }
        let mut longest: Vec<_> = longest.into_iter().collect();
        longest.sort_unstable_by_key(|&(key, _)| key);
        Some(longest)
    }

    /// The history in which each append has an element of its own, if the lists show these. A list
    /// that does not fit shows none: it was read by a transaction of unknown outcome.
    pub fn told_apart(&self, choice: &Choice) -> History {
        let shown = |&(read, key, list): &(OpId, KeyId, &[Value])| {
            let (_, of_key) = choice.0.iter().find(|(other, _)| *other == key)?;
            let appends = of_key.get(..list.len())?;
            let is_shown =
                |(append, element): (&OpId, &Value)| self.history.op(*append).value == *element;
            appends.iter().zip(list).all(is_shown).then(|| (read, appends.to_vec()))
        };
        let lists: Vec<(OpId, Vec<OpId>)> = self.reads.iter().filter_map(shown).collect();
        self.history.with_own_elements(&lists)
    }

    /// The appends of a choice that might have been others, in the order of the lists.
    pub fn ambiguous(&self, choice: &Choice) -> Vec<OpId> {
        let is_ambiguous = |append: &OpId| {
            let op = self.history.op(*append);
            self.appends.get(&(op.key, op.value)).is_some_and(|appends| appends.len() > 1)
        };
        choice.0.iter().flat_map(|(_, appends)| appends).copied().filter(is_ambiguous).collect()
    }
}

/// The ways to find a different append for each element of one list.
struct Ways<'a> {
    lists: &'a Lists<'a>,
    key: KeyId,
    list: &'a [Value],
    max: usize,
    found: Vec<Vec<OpId>>,
}

impl Ways<'_> {
    /// Finds all that begin with `way`, up to one more than the most.
    fn extend(&mut self, way: &mut Vec<OpId>) {
        if self.found.len() > self.max {
            return;
        }
        // A long list is walked along; only what was appended several times branches.
        let start = way.len();
        while let Some([append]) = self.candidates(way.len()) {
            let append = *append;
            if way.contains(&append) {
                break;
            }
            way.push(append);
        }
        if way.len() == self.list.len() {
            self.found.push(way.clone());
        } else {
            for append in self.candidates(way.len()).unwrap_or_default().to_vec() {
                if !way.contains(&append) {
                    way.push(append);
                    self.extend(way);
                    way.pop();
                }
            }
        }
        way.truncate(start);
    }

    fn candidates(&self, place: usize) -> Option<&[OpId]> {
        let element = *self.list.get(place)?;
        self.lists.appends.get(&(self.key, element)).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seriatim_history::notation;

    #[test]
    fn each_element_is_another_append() {
        let history = notation::parse("a: a(x,1) a(x,2)\nb: a(x,1) | r(x,[1 2 1]) r(x,[1])");
        let history = history.unwrap();
        let lists = Lists::of(&history);
        let choices = lists.choices(2).unwrap();
        let ambiguous: Vec<_> = choices.iter().map(|choice| lists.ambiguous(choice)).collect();
        assert_eq!(ambiguous, [[OpId(0), OpId(2)], [OpId(2), OpId(0)]]);
        let apart = lists.told_apart(&choices[1]);
        let shown = |op: u32| apart.value_text(apart.op(OpId(op)).value);
        assert_eq!(shown(3), format!("[{} {} {}]", shown(2), shown(1), shown(0)));
        assert_eq!(shown(4), format!("[{}]", shown(2)));
        assert!(lists.choices(1).is_none());
    }

    #[test]
    fn there_is_no_choice_without_duplicates_and_none_if_lists_contradict_each_other() {
        for text in ["a: a(x,1)\nb: r(x,[1])", "a: a(x,1) a(x,1) a(x,2)\nb: r(x,[1 2]) r(x,[2])"] {
            let history = notation::parse(text).unwrap();
            assert!(Lists::of(&history).choices(100).is_none(), "{text}");
        }
    }
}
