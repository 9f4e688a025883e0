// A call forward and the return before it.
s_getpc_b64 s[4:5]
s_add_u32 s4, s4, 64
s_swappc_b64 s[6:7], s[4:5]
s_nop 0
s_endpgm
.rept 12
s_nop 0
.endr
s_setpc_b64 s[6:7]
