.include "micro.inc"
begin
.rept REPEAT
  mfma16
  repeat_pk VALUE
.endr
end
