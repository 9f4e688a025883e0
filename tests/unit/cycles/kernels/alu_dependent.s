.include "micro.inc"
begin
.rept REPEAT
  v_add_f32_e32 v40, v40, v42
.endr
end
