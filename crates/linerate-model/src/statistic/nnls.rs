//! A sum of costs, none of which is below nothing.

/// The shares of a unit's variance below which two columns are one.
const ALIKE: f64 = 1e-8;

/// The factors, none negative, with which the columns add up to the targets with the least squared
/// error; none where the columns cannot be told apart, or there are fewer rows than columns.
///
/// The problem of Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23. Its answer is
/// the plain least-squares fit of those columns that are not zero in it, so with few columns the best
/// of all choices of columns is the answer; a search is not needed. Rows count by their absolute
/// error: for relative error, divide each row and its target by the target first.
pub fn nnls<const N: usize>(rows: &[[f64; N]], targets: &[f64]) -> Option<[f64; N]> {
    let finite = |(row, target): &(&[f64; N], &f64)| target.is_finite() && row.iter().all(|x| x.is_finite());
    let rows: Vec<(&[f64; N], &f64)> = rows.iter().zip(targets).filter(finite).collect();
    if rows.len() < N {
        return None;
    }
    // Columns of one length: a time per byte and a time per call are of very different size.
    let length = |k: usize| rows.iter().map(|(row, _)| row[k] * row[k]).sum::<f64>().sqrt();
    let lengths: [f64; N] = std::array::from_fn(length);
    let gram: [[f64; N]; N] = std::array::from_fn(|i| {
        std::array::from_fn(|j| rows.iter().map(|(row, _)| row[i] / lengths[i] * (row[j] / lengths[j])).sum())
    });
    let shared =
        std::array::from_fn(|i| rows.iter().map(|(row, target)| row[i] / lengths[i] * *target).sum());
    solve(&gram, &shared, [true; N])?;
    // The squared error is that of nothing less the part explained, so the most explained is best.
    let explained = |x: &[f64; N]| x.iter().zip(&shared).map(|(x, s)| x * s).sum::<f64>();
    let best = (0..1_usize << N)
        .filter_map(|chosen| solve(&gram, &shared, std::array::from_fn(|k| chosen >> k & 1 == 1)))
        .filter(|x| x.iter().all(|x| *x >= 0.0))
        .max_by(|a, b| explained(a).total_cmp(&explained(b)))?;
    Some(std::array::from_fn(|k| best[k] / lengths[k]))
}

/// The least-squares fit of the chosen columns, the others zero, by Cholesky's elimination; none
/// where one of them is made of the others.
fn solve<const N: usize>(gram: &[[f64; N]; N], shared: &[f64; N], chosen: [bool; N]) -> Option<[f64; N]> {
    let mut matrix: [[f64; N]; N] = std::array::from_fn(|i| {
        std::array::from_fn(|j| gram[i][j] * f64::from(u8::from(chosen[i] && chosen[j])))
    });
    let mut right: [f64; N] = std::array::from_fn(|i| if chosen[i] { shared[i] } else { 0.0 });
    for k in (0..N).filter(|k| chosen[*k]) {
        if matrix[k][k] <= ALIKE || matrix[k][k].is_nan() {
            return None;
        }
        for below in k + 1..N {
            let factor = matrix[below][k] / matrix[k][k];
            let above = matrix[k];
            matrix[below].iter_mut().zip(above).for_each(|(cell, above)| *cell -= factor * above);
            right[below] -= factor * right[k];
        }
    }
    let mut found = [0.0; N];
    for k in (0..N).rev().filter(|k| chosen[*k]) {
        let known: f64 = (k + 1..N).map(|column| matrix[k][column] * found[column]).sum();
        found[k] = (right[k] - known) / matrix[k][k];
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROWS: [[f64; 3]; 5] =
        [[1.0, 2.0, 5.0], [1.0, 3.0, 9.0], [1.0, 4.0, 2.0], [1.0, 8.0, 7.0], [1.0, 9.0, 30.0]];

    /// SciPy: `scipy.optimize.nnls`, once with all columns and once with two of them at nothing.
    #[test]
    fn the_factors_come_out_as_in_scipy() {
        let cases = [
            ([4.0, 6.0, 3.0, 8.0, 9.0], [2.561304, 0.493533, 0.08229475]),
            ([10.0, 6.0, 12.0, 8.0, 1.0], [7.4, 0.0, 0.0]),
        ];
        for (targets, wanted) in cases {
            let found = nnls(&ROWS, &targets).unwrap();
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?}");
        }
    }

    #[test]
    fn costs_of_very_different_size_are_found_again() {
        let row = |calls: f64, bytes: f64| [calls, (bytes / 1448.0).ceil(), bytes];
        let rows: Vec<[f64; 3]> = (0..20).map(|k| row(1.0 + f64::from(k % 3), 2f64.powi(k))).collect();
        let truth = [900.0, 350.0, 0.06];
        let targets: Vec<f64> = rows.iter().map(|r| r.iter().zip(truth).map(|(x, c)| x * c).sum()).collect();
        let relative: Vec<[f64; 3]> = rows.iter().zip(&targets).map(|(r, t)| r.map(|x| x / t)).collect();
        let found = nnls(&relative, &vec![1.0; targets.len()]).unwrap();
        assert!(found.iter().zip(truth).all(|(a, b)| (a / b - 1.0).abs() < 1e-3), "{found:?}");
    }

    #[test]
    fn columns_that_cannot_be_told_apart_have_no_factors() {
        let rows: Vec<[f64; 2]> = (1..9).map(|k| [f64::from(k), 1448.0 * f64::from(k)]).collect();
        assert_eq!(nnls(&rows, &[1.0; 8]), None);
        assert_eq!(nnls(&[[1.0, 0.0], [2.0, 0.0]], &[1.0, 2.0]), None);
        assert_eq!(nnls(&ROWS[..2], &[1.0, 2.0]), None);
    }

    proptest! {
        #[test]
        fn no_factor_is_negative_and_no_step_does_better(
            targets in prop::collection::vec(-10.0..10.0f64, 5)
        ) {
            let found = nnls(&ROWS, &targets).unwrap();
            let error = |x: [f64; 3]| -> f64 {
                let made = |row: &[f64; 3]| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
                ROWS.iter().zip(&targets).map(|(row, target)| (made(row) - target).powi(2)).sum()
            };
            for k in 0..3 {
                for step in [-1e-3, 1e-3] {
                    let mut near = found;
                    near[k] = (near[k] + step).max(0.0);
                    prop_assert!(error(found) <= error(near) + 1e-9);
                }
            }
            prop_assert!(found.iter().all(|x| *x >= 0.0));
        }

        #[test]
        fn odd_numbers_never_break_it(
            rows in prop::collection::vec(prop::array::uniform2(prop::num::f64::ANY), 0..9),
            targets in prop::collection::vec(prop::num::f64::ANY, 0..9),
        ) {
            nnls(&rows, &targets);
        }
    }
}
