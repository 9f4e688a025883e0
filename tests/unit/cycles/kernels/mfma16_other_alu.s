.include "micro.inc"
begin
  two_waves
.rept REPEAT
  mfma16
.endr
  s_branch done
second:
.rept REPEAT
  repeat_alu VALUE
.endr
done:
end
