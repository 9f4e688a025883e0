.include "micro.inc"
begin
  s_nop 0
.rept REPEAT
  v_add_f32_e64 v40, v41, v42
.endr
end
