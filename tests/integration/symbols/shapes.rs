// SPDX-License-Identifier: BSD-2-Clause
// Of symbols-matrix.t: traits, generics, closures, the standard library.
use std::collections::HashMap;
mod shapes {
    pub trait Area { fn area(&self) -> f64; }
    pub struct Square(pub f64);
    pub struct Circle { pub r: f64 }
    impl Area for Square { #[inline(never)] fn area(&self) -> f64 { self.0 * self.0 } }
    impl Area for Circle { #[inline(never)] fn area(&self) -> f64 { self.r * self.r * 3.14 } }
    #[inline(never)]
    pub fn total<T: Area>(v: &[T]) -> f64 { v.iter().map(|s| s.area()).sum() }
}
#[inline(always)]
fn mix(x: u64) -> u64 {
    x.wrapping_mul(6364136223846793005).rotate_left(13)
}
#[inline(never)]
fn churn(n: u64) -> u64 {
    let mut m = HashMap::new();
    let mut x = 1u64;
    for i in 0..n {
        x = mix(x ^ i);
        *m.entry(x % 97).or_insert(0u64) += 1;
    }
    m.values().fold(0, |a, b| a ^ mix(*b))
}
fn main() {
    let n = std::env::args().count() as u64;
    let sq: Vec<_> = (0..10).map(|i| shapes::Square(i as f64)).collect();
    let ci: Vec<_> = (0..10).map(|i| shapes::Circle { r: i as f64 }).collect();
    println!("{} {} {}", churn(n * 100000), shapes::total(&sq), shapes::total(&ci));
}
