! SPDX-License-Identifier: BSD-2-Clause
! Of symbols-matrix.t: a procedure of a module, and one inside the program.
module grid
contains
  subroutine relax(a, n)
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    integer :: i
    do i = 2, n - 1
      a(i) = 0.5 * a(i) + 0.25 * (a(i - 1) + a(i + 1))
    end do
  end subroutine
end module
program p
  use grid
  real :: a(1000)
  integer :: k
  a = 1.0
  a(1) = 5.0
  do k = 1, 1000
    call relax(a, 1000)
  end do
  print *, inner(a(500))
contains
  real function inner(x)
    real, intent(in) :: x
    inner = x * 2.0
  end function
end program
