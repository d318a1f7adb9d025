! Two-bar truss with a support on a roller: balance of forces at (x, y, u); p, ks, h are parameters.
subroutine FUNC(NDIM, U, ICP, PAR, IJAC, F, DFDU, DFDP)
  implicit none
  integer, intent(in) :: NDIM, ICP(*), IJAC
  double precision, intent(in) :: U(NDIM), PAR(*)
  double precision, intent(out) :: F(NDIM)
  double precision, intent(inout) :: DFDU(NDIM, NDIM), DFDP(NDIM, *)
  double precision :: p, ks, h, l0, wide, left, right, A(2, 2), B(2, 2)
  p = PAR(1); ks = PAR(2); h = PAR(3)
  l0 = sqrt(1d0 + h*h)
  wide = 2d0 + U(3) - U(1)
  left = sqrt(U(1)**2 + U(2)**2)
  right = sqrt(wide**2 + U(2)**2)
  F(1) = -((left - l0)*U(1)/left - (right - l0)*wide/right)
  F(2) = -((left - l0)*U(2)/left + (right - l0)*U(2)/right + p)
  F(3) = -((right - l0)*wide/right + ks*U(3))
  if (IJAC == 0) return
  A = bar((/ U(1), U(2) /)); B = bar((/ wide, U(2) /))
  DFDU(1, :) = -(/ A(1, 1) + B(1, 1), A(1, 2) - B(1, 2), -B(1, 1) /)
  DFDU(2, :) = -(/ A(1, 2) - B(1, 2), A(2, 2) + B(2, 2), B(1, 2) /)
  DFDU(3, :) = -(/ -B(1, 1), B(1, 2), B(1, 1) + ks /)
  if (IJAC == 1) return
  DFDP(:, 1) = (/ 0d0, -1d0, 0d0 /)
  DFDP(:, 2) = (/ 0d0, 0d0, -U(3) /)
  DFDP(:, 3) = h/l0*(/ U(1)/left - wide/right, U(2)/left + U(2)/right, wide/right /)
contains
  function bar(d) result(K)
    double precision, intent(in) :: d(2)
    double precision :: K(2, 2), length
    length = norm2(d)
    K = l0/length**3*reshape((/ d(1)*d(1), d(1)*d(2), d(1)*d(2), d(2)*d(2) /), (/ 2, 2 /))
    K(1, 1) = K(1, 1) + 1d0 - l0/length
    K(2, 2) = K(2, 2) + 1d0 - l0/length
  end function
end subroutine
subroutine STPNT(NDIM, U, PAR, T)
  implicit none
  integer, intent(in) :: NDIM
  double precision, intent(inout) :: U(NDIM), PAR(*)
  double precision, intent(in) :: T
  PAR(1:3) = (/ 0d0, 2d0, 0.5d0 /)
  U = (/ 1d0, 0.5d0, 0d0 /)
end subroutine
subroutine BCND
end subroutine
subroutine ICND
end subroutine
subroutine FOPT
end subroutine
subroutine PVLS
end subroutine
