//! Materials of a world, and the laws between two of them.

use crate::{Collider, ColliderId, ContactError, FrictionRule, Material, MaterialId};

/// Pairs of colliders that are looked at for the materials that may meet.
const MOST_PAIRS: usize = 1_000_000;

/// The materials, how they combine, and the pairs with a law of their own.
#[derive(Clone, Debug)]
pub(super) struct Materials {
    list: Vec<Material>,
    /// How coefficients of friction combine.
    pub(super) rule: FrictionRule,
    /// Laws of pairs, sorted by these.
    pairs: Vec<PairLaw>,
}

/// The law of a pair.
#[derive(Clone, Copy, Debug)]
struct PairLaw {
    /// The lower one first.
    between: (MaterialId, MaterialId),
    /// In whose body axes a direction is.
    first: MaterialId,
    law: Material,
}

impl Default for Materials {
    /// The default material alone.
    fn default() -> Self {
        Self {
            list: vec![Material::default()],
            rule: FrictionRule::default(),
            pairs: Vec::new(),
        }
    }
}

impl Materials {
    pub(super) fn list(&self) -> &[Material] {
        &self.list
    }

    /// Whether a material, or the law of a pair, has a foundation.
    pub(super) fn have_foundations(&self) -> bool {
        self.all().any(|material| material.foundation > 0.0)
    }

    /// Whether a material, or the law of a pair, has a coefficient of restitution.
    pub(super) fn have_restitution(&self) -> bool {
        self.all().any(|material| material.restitution > 0.0)
    }

    /// Whether a material, or the law of a pair, gives way.
    pub(super) fn have_compliance(&self) -> bool {
        self.all().any(|material| material.compliance > 0.0) || self.have_foundations()
    }

    fn all(&self) -> impl Iterator<Item = &Material> {
        self.list.iter().chain(self.pairs.iter().map(|pair| &pair.law))
    }

    pub(super) fn add(&mut self, material: Material) -> Result<MaterialId, ContactError> {
        self.list.push(material.check()?);
        Ok(MaterialId(self.list.len() as u32 - 1))
    }

    /// Sets the law of a pair; a direction of friction in body axes is in those of `a`.
    pub(super) fn set_pair(
        &mut self,
        a: MaterialId,
        b: MaterialId,
        law: Material,
    ) -> Result<(), ContactError> {
        let law = law.check()?;
        for id in [a, b] {
            self.check("a pair of materials", id)?;
        }
        let pair = PairLaw {
            between: (a.min(b), a.max(b)),
            first: a,
            law,
        };
        match self.pairs.binary_search_by_key(&pair.between, |p| p.between) {
            Ok(k) => self.pairs[k] = pair,
            Err(k) => self.pairs.insert(k, pair),
        }
        Ok(())
    }

    /// Refuses a material that there is not, for the thing of this name.
    pub(super) fn check(&self, name: &str, id: MaterialId) -> Result<(), ContactError> {
        if id.index() < self.list.len() {
            return Ok(());
        }
        let (name, what, index, count) = (name.into(), "material", id.index(), self.list.len());
        Err(ContactError::Missing {
            name,
            what,
            index,
            count,
        })
    }

    /// The law between two materials, that of the pair or else by the rules, and which of the two
    /// has the directions of friction.
    pub(super) fn law(&self, [a, b]: [MaterialId; 2]) -> (Material, usize) {
        match self
            .pairs
            .binary_search_by_key(&(a.min(b), a.max(b)), |p| p.between)
        {
            Ok(k) => (self.pairs[k].law, usize::from(self.pairs[k].first != a)),
            Err(_) => {
                let [first, second] = [a, b].map(|m| &self.list[m.index()]);
                (first.with(second, self.rule), usize::from(!first.leads(second)))
            }
        }
    }
}

/// For each pair of materials two colliders that have them, and that may meet.
pub(super) fn meeting(
    colliders: &[Collider],
    may_meet: impl Fn([ColliderId; 2]) -> bool,
) -> Vec<[ColliderId; 2]> {
    let mut found: Vec<([MaterialId; 2], [ColliderId; 2])> = Vec::new();
    let count = colliders.len();
    let pairs = (0..count).flat_map(|a| (a..count).map(move |b| [a, b]));
    for pair in pairs.take(MOST_PAIRS) {
        let [a, b] = pair.map(|k| &colliders[k]);
        let ids = pair.map(|k| ColliderId(k as u32));
        let meet = match pair[0] == pair[1] {
            true => a.self_contact.is_some(),
            false => may_meet(ids),
        };
        let mut materials = [a.material, b.material];
        materials.sort_unstable();
        if let (true, Err(k)) = (meet, found.binary_search_by_key(&materials, |f| f.0)) {
            found.insert(k, (materials, ids));
        }
    }
    found.into_iter().map(|f| f.1).collect()
}
