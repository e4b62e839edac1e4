//! Transformations of coordinates (ISO 32000-1, 8.3.3).

/// A point or a distance.
pub(super) type Vector = (f32, f32);

/// A transformation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matrix {
    /// The image of one unit along the first axis.
    pub(super) x: Vector,
    /// The image of one unit along the second axis.
    pub(super) y: Vector,
    pub(super) origin: Vector,
}

impl Matrix {
    pub(super) const IDENTITY: Self = Self::translation(0.0, 0.0);

    /// Returns a transformation from the six numbers of a document.
    pub(super) fn from_numbers(numbers: &[f32]) -> Option<Self> {
        let &[scale_x, skew_y, skew_x, scale_y, left, bottom] = numbers else {
            return None;
        };
        Some(Self {
            x: (scale_x, skew_y),
            y: (skew_x, scale_y),
            origin: (left, bottom),
        })
    }

    pub(super) const fn translation(x: f32, y: f32) -> Self {
        Self {
            x: (1.0, 0.0),
            y: (0.0, 1.0),
            origin: (x, y),
        }
    }

    /// Returns this transformation, followed by another one.
    pub(super) fn then(self, next: Self) -> Self {
        let turned = |(x, y): Vector| (x * next.x.0 + y * next.y.0, x * next.x.1 + y * next.y.1);
        let (left, bottom) = turned(self.origin);
        Self {
            x: turned(self.x),
            y: turned(self.y),
            origin: (left + next.origin.0, bottom + next.origin.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transformations_are_applied_in_order() {
        let matrix = |numbers: [f32; 6]| Matrix::from_numbers(&numbers).unwrap();
        let scale = matrix([2.0, 0.0, 0.0, 3.0, 0.0, 0.0]);
        let moved = Matrix::translation(1.0, 1.0).then(scale);
        assert_eq!(moved, matrix([2.0, 0.0, 0.0, 3.0, 2.0, 3.0]));
        let quarter = matrix([0.0, 1.0, -1.0, 0.0, 5.0, 0.0]);
        assert_eq!(scale.then(quarter), matrix([0.0, 2.0, -3.0, 0.0, 5.0, 0.0]));
        assert_eq!(Matrix::IDENTITY.then(scale), scale);
        assert_eq!(Matrix::from_numbers(&[1.0]), None);
    }
}
