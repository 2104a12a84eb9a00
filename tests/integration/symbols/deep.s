# SPDX-License-Identifier: BSD-2-Clause
#
# Debug information that parsers die of: a million structures inside each other, behind which main is called "renamed";
# and a function that is a copy of itself. Of symbols-damage.t.
	.text
	.globl main
	.type main,@function
main:
	xor %eax,%eax
	ret
.Lend:
	.size main,.-main
	.section .debug_abbrev,"",@progbits
	.uleb128 1
	.uleb128 0x11
	.byte 1
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.byte 0,0
	.uleb128 2
	.uleb128 0x13
	.byte 1
	.byte 0,0
	.uleb128 3
	.uleb128 0x2e
	.byte 0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.byte 0,0
	.uleb128 4
	.uleb128 0x2e
	.byte 0
	.uleb128 0x31
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.byte 0,0
	.byte 0
	.section .debug_info,"",@progbits
.Lunit:
	.long 9f-8f
8:	.value 4
	.long .debug_abbrev
	.byte 8
	.uleb128 1
	.string "deep.s"
	.quad main
	.quad .Lend-main
	.fill 1000000,1,2
	.fill 1000000,1,0
	.uleb128 3
	.string "renamed"
	.quad main
	.quad .Lend-main
	.byte 0
9:
	.long 9f-8f
8:	.value 4
	.long .debug_abbrev
	.byte 8
	.uleb128 1
	.string "loop.s"
	.quad main
	.quad .Lend-main
.Lloop:
	.uleb128 4
	.long .Lloop-8b+4
	.quad main
	.quad .Lend-main
	.byte 0
9:
	.section .note.GNU-stack,"",@progbits
