.include "micro.inc"
begin
  two_waves
.rept REPEAT
  repeat_exp 1
.endr
  s_branch done
second:
.rept REPEAT
  repeat_alu VALUE
.endr
done:
end
