/*
 * Golden values, made by portable_golden --print: see portable_golden.c.
 */
static const Golden goldens[] = {
	{"hash of 0 bytes, seed 0",
		"none 2d06800538d394c2 text 0365a3c2b692b4ae"},
	{"hash of 0 bytes, seed 123456789abcdef",
		"none cc1ca35a1b089c5c text 1eed3cedc52725be"},
	{"hash of 1 bytes, seed 0",
		"none 4c5cca45d0f4811f text d9481ce0f3d165d1"},
	{"hash of 1 bytes, seed 123456789abcdef",
		"none 6dcb95d31de5966b text a11d3ab4fe32b857"},
	{"hash of 2 bytes, seed 0",
		"none 29c60963cbfa4e6e text 85a831ac7cc8d860"},
	{"hash of 2 bytes, seed 123456789abcdef",
		"none 567d5b9b9c8a52a7 text 7f97a2bc8983174d"},
	{"hash of 3 bytes, seed 0",
		"none 6e3e2670e61106ac text bcdd7494e3ca7c42"},
	{"hash of 3 bytes, seed 123456789abcdef",
		"none 911f06f10ddb4cd2 text 387b668988462506"},
	{"hash of 4 bytes, seed 0",
		"none 5c4c63133443d03f text caa1d4c8bb8bef4c"},
	{"hash of 4 bytes, seed 123456789abcdef",
		"none ac127d990d6a1500 text 5517609a1435a172"},
	{"hash of 5 bytes, seed 0",
		"none 49f5eb3111280b63 text f928e526ba38e629"},
	{"hash of 5 bytes, seed 123456789abcdef",
		"none f9672e909a41d02b text 6fbcfa58718997f6"},
	{"hash of 8 bytes, seed 0",
		"none f9fd4dd0b04d78f5 text 19b0bc24379e9c60"},
	{"hash of 8 bytes, seed 123456789abcdef",
		"none 9c622ca7116e701f text bffaf662eb722344"},
	{"hash of 9 bytes, seed 0",
		"none 7c20df9712c26edf text eee662590f7ecc2d"},
	{"hash of 9 bytes, seed 123456789abcdef",
		"none 6ccff5be3cc44ec4 text 6e6c2d4dd6ab246b"},
	{"hash of 16 bytes, seed 0",
		"none 86abf6baccea0858 text 7d61383cd7f56e47"},
	{"hash of 16 bytes, seed 123456789abcdef",
		"none 81ebfa79d47aa6f2 text 1c0edc025cf22f90"},
	{"hash of 17 bytes, seed 0",
		"none b58bf5dc5022d071 text bf8de3451b0da24b"},
	{"hash of 17 bytes, seed 123456789abcdef",
		"none fd2e9d73f8cca2d4 text fab720c6227c4b79"},
	{"hash of 32 bytes, seed 0",
		"none e3712ed84c04a66e text 1dbe1e796b9f23b6"},
	{"hash of 32 bytes, seed 123456789abcdef",
		"none ddd67146dd8432e2 text fc3c7c892e975764"},
	{"hash of 33 bytes, seed 0",
		"none a4dee99b093e1f73 text f3f28592e8b0f526"},
	{"hash of 33 bytes, seed 123456789abcdef",
		"none ca1d53e8bea692ca text 54f2ae53c7842514"},
	{"hash of 64 bytes, seed 0",
		"none 1291d2d4042330dd text 93e58e6eb8fa6466"},
	{"hash of 64 bytes, seed 123456789abcdef",
		"none da20789f5c6994e7 text 08fcb34308c93929"},
	{"hash of 65 bytes, seed 0",
		"none 97c6bf83217e5ec9 text 0fa9bbe8cae40d80"},
	{"hash of 65 bytes, seed 123456789abcdef",
		"none 66e93cd61fb20c80 text 1dcfdfea615f4a0e"},
	{"hash of 96 bytes, seed 0",
		"none 81296929fc063365 text 82b417374da8f474"},
	{"hash of 96 bytes, seed 123456789abcdef",
		"none 1fbfb41f68b916dd text 8d0bda62760093cf"},
	{"hash of 97 bytes, seed 0",
		"none f145a45b658ab9dd text a956161b02c4e84a"},
	{"hash of 97 bytes, seed 123456789abcdef",
		"none a9dffe06acd5dcc5 text e3999d9f17feeba9"},
	{"hash of 128 bytes, seed 0",
		"none 10d17f72c0ccba41 text d75205a8d69a7362"},
	{"hash of 128 bytes, seed 123456789abcdef",
		"none 357be72a285cd85e text 6026aa38cd3d5470"},
	{"hash of 129 bytes, seed 0",
		"none 1648bdc3db49d1a2 text d806f4d00e16fcd9"},
	{"hash of 129 bytes, seed 123456789abcdef",
		"none 1376e00df4c705f0 text 55e1b9322c2c3d8a"},
	{"hash of 200 bytes, seed 0",
		"none c0fbc0f4e181c826 text f58275d78b0eb294"},
	{"hash of 200 bytes, seed 123456789abcdef",
		"none 92faada7659f6bee text b09a755eabc02170"},
	{"hash of 240 bytes, seed 0",
		"none b6cfaf343fab81e6 text b8f2a0ad02b9ef2a"},
	{"hash of 240 bytes, seed 123456789abcdef",
		"none d43296f42088f6c4 text a10d53d47b9182b5"},
	{"hash of 241 bytes, seed 0",
		"none 956cae592c67279e text f9356ae77b02cfd2"},
	{"hash of 241 bytes, seed 123456789abcdef",
		"none 4cbae25b11e4b16b text e5db478715d06e3f"},
	{"hash of 256 bytes, seed 0",
		"none b15e550733c5dfac text 8c6e148b06cdfcc5"},
	{"hash of 256 bytes, seed 123456789abcdef",
		"none 1bcb49749382650b text 75c9e322ce4b5ed9"},
	{"hash of 1023 bytes, seed 0",
		"none aa76836516a7ea30 text 5270c3869e944399"},
	{"hash of 1023 bytes, seed 123456789abcdef",
		"none f55d64026eeff3e6 text b418a4a2334725a3"},
	{"hash of 1024 bytes, seed 0",
		"none a1e16f2edf2cbed6 text d0c58fc4afa4f767"},
	{"hash of 1024 bytes, seed 123456789abcdef",
		"none d3c5fceb4e2ca258 text 2d369137d7e6c18c"},
	{"hash of 1025 bytes, seed 0",
		"none 0a6d2c17259fe4bb text 4406283e91e22a13"},
	{"hash of 1025 bytes, seed 123456789abcdef",
		"none 60e50a0380c1a593 text 8af574a46d0401f2"},
	{"hash of 4000 bytes, seed 0",
		"none 85531cbd39e6fd16 text 476f4edc0c2afe2c"},
	{"hash of 4000 bytes, seed 123456789abcdef",
		"none 5cf6c7639a6edd4d text f3eea51df8e87c2d"},
	{"hash of 8 bytes as key type 0",
		"f9fd4dd0b04d78f5"},
	{"hash of 8 bytes as key type 1",
		"bc72d0531396303f"},
	{"hash of 8 bytes as key type 2",
		"62d33124f0707c33"},
	{"hash of 8 bytes as key type 3",
		"55018d237709a945"},
	{"hash of 8 bytes as key type 4",
		"19b0bc24379e9c60"},
	{"hash of 8 bytes as key type 5",
		"a63e34e53f8832c2"},
	{"hash of 8 bytes as key type 6",
		"469fb76917b90963"},
	{"hash of 8 bytes as key type 7",
		"7f1eb043dee4121e"},
	{"hash of 8 bytes as key type 8",
		"3298a7642880456c"},
	{"hash of 8 bytes as key type 9",
		"b7df31788f96f4ab"},
	{"hash of 8 bytes as key type 10",
		"ba00a0f799d9f8f8"},
	{"hash of 8 bytes as key type 11",
		"3c87d3d6d2b4f88d"},
	{"hash of 8 bytes as key type 12",
		"b224c0877e124f60"},
	{"hash of 8 bytes as key type 13",
		"65d36ab0fb004311"},
	{"hash of 8 bytes as key type 14",
		"d471511f86a1e516"},
	{"hash of 8 bytes as key type 15",
		"33e430af94791285"},
	{"hash of 8 bytes as key type 16",
		"ff25a6c275ec790d"},
	{"hash of 8 bytes as key type 17",
		"61486f847bb0aeed"},
	{"hash of 8 bytes as key type 18",
		"fef6916b6a9fb713"},
	{"hash of 8 bytes as key type 19",
		"b6caf47d11f65ac5"},
	{"hash of 8 bytes as key type 20",
		"050da3547ec86dde"},
	{"hash of 8 bytes as key type 21",
		"fca9f68e2f49c8e7"},
	{"hash of 8 bytes as key type 22",
		"11f116500336ba3f"},
	{"hash of 8 bytes as key type 23",
		"9a93ece5a69a267e"},
	{"hash of 8 bytes as key type 24",
		"f88aeb99ead09264"},
	{"hash of 8 bytes as key type 25",
		"b18c5b8da6f8279a"},
	{"hash of 8 bytes as key type 26",
		"11b5837558b6c181"},
	{"hash of 8 bytes as key type 27",
		"32ba31b1064edd17"},
	{"sums of fingerprint 1",
		"1 1 1 9 317 10407 10407"},
	{"sums of fingerprint 2",
		"1 1 1 5 191 6265 6267"},
	{"sums of fingerprint 3",
		"1 3 3 15 523 17143 17145"},
	{"sums of fingerprint 31",
		"1 1 1 9 293 9595 9595"},
	{"sums of fingerprint 100",
		"1 3 5 29 991 32485 32487"},
	{"sums of fingerprint 4095",
		"1 1 3 13 465 15259 15261"},
	{"sums of fingerprint 8191",
		"1 3 5 25 853 27959 27959"},
	{"sums of fingerprint 65537",
		"1 3 5 25 853 27963 27965"},
	{"sums of fingerprint 305419896",
		"1 3 5 27 889 29117 29119"},
	{"sums of fingerprint 4294967295",
		"1 3 3 15 507 16631 16633"},
	{"place of 0000000000000000 in 1 blocks of 2 buckets, f 5",
		"code 0000000000000001, block at 0, buckets 0 and 1, fingerprint "
		"1"},
	{"place of 0000000000000001 in 1 blocks of 2 buckets, f 5",
		"code 0000000000000001, block at 0, buckets 0 and 1, fingerprint "
		"1"},
	{"place of 00000000ffffffff in 1 blocks of 2 buckets, f 5",
		"code 0000000000000001, block at 0, buckets 0 and 1, fingerprint "
		"1"},
	{"place of 0000000100000000 in 1 blocks of 2 buckets, f 5",
		"code 0000000000000001, block at 0, buckets 0 and 1, fingerprint "
		"1"},
	{"place of 8000000080000000 in 1 blocks of 2 buckets, f 5",
		"code 0000000000000010, block at 0, buckets 0 and 1, fingerprint "
		"16"},
	{"place of ffffffffffffffff in 1 blocks of 2 buckets, f 5",
		"code 000000000000001f, block at 0, buckets 0 and 1, fingerprint "
		"31"},
	{"place of a6cd8fc32994760f in 1 blocks of 2 buckets, f 5",
		"code 0000000000000015, block at 0, buckets 0 and 1, fingerprint "
		"21"},
	{"place of 6c08fb3a7bd674b1 in 1 blocks of 2 buckets, f 5",
		"code 000000000000000e, block at 0, buckets 0 and 1, fingerprint "
		"14"},
	{"place of 0000000000000000 in 1 blocks of 30 buckets, f 8",
		"code 0000000000000001, block at 0, buckets 0 and 9, fingerprint "
		"1"},
	{"place of 0000000000000001 in 1 blocks of 30 buckets, f 8",
		"code 0000000000000001, block at 0, buckets 0 and 9, fingerprint "
		"1"},
	{"place of 00000000ffffffff in 1 blocks of 30 buckets, f 8",
		"code 0000000000000001, block at 0, buckets 0 and 9, fingerprint "
		"1"},
	{"place of 0000000100000000 in 1 blocks of 30 buckets, f 8",
		"code 0000000000000001, block at 0, buckets 0 and 9, fingerprint "
		"1"},
	{"place of 8000000080000000 in 1 blocks of 30 buckets, f 8",
		"code 0000000000000780, block at 0, buckets 14 and 3, fingerprint"
		" 128"},
	{"place of ffffffffffffffff in 1 blocks of 30 buckets, f 8",
		"code 0000000000000eff, block at 0, buckets 28 and 15, fingerprin"
		"t 255"},
	{"place of a6cd8fc32994760f in 1 blocks of 30 buckets, f 8",
		"code 00000000000009c6, block at 0, buckets 18 and 1, fingerprint"
		" 198"},
	{"place of 6c08fb3a7bd674b1 in 1 blocks of 30 buckets, f 8",
		"code 0000000000000655, block at 0, buckets 12 and 15, fingerprin"
		"t 85"},
	{"place of 0000000000000000 in 3 blocks of 30 buckets, f 13",
		"code 0000000000000001, block at 0, buckets 0 and 9, fingerprint "
		"1"},
	{"place of 0000000000000001 in 3 blocks of 30 buckets, f 13",
		"code 0000000000000001, block at 0, buckets 0 and 9, fingerprint "
		"1"},
	{"place of 00000000ffffffff in 3 blocks of 30 buckets, f 13",
		"code 0000000000000001, block at 0, buckets 0 and 9, fingerprint "
		"1"},
	{"place of 0000000100000000 in 3 blocks of 30 buckets, f 13",
		"code 0000000000000001, block at 0, buckets 0 and 9, fingerprint "
		"1"},
	{"place of 8000000080000000 in 3 blocks of 30 buckets, f 13",
		"code 000000000002d000, block at 30, buckets 14 and 1, fingerprin"
		"t 4096"},
	{"place of ffffffffffffffff in 3 blocks of 30 buckets, f 13",
		"code 0000000000059fff, block at 60, buckets 28 and 27, fingerpri"
		"nt 8191"},
	{"place of a6cd8fc32994760f in 3 blocks of 30 buckets, f 13",
		"code 000000000003aa44, block at 30, buckets 28 and 13, fingerpri"
		"nt 2628"},
	{"place of 6c08fb3a7bd674b1 in 3 blocks of 30 buckets, f 13",
		"code 0000000000025fb2, block at 30, buckets 6 and 23, fingerprin"
		"t 8114"},
	{"place of 0000000000000000 in 7 blocks of 1000 buckets, f 17",
		"code 0000000000000001, block at 0, buckets 0 and 317, fingerprin"
		"t 1"},
	{"place of 0000000000000001 in 7 blocks of 1000 buckets, f 17",
		"code 0000000000000001, block at 0, buckets 0 and 317, fingerprin"
		"t 1"},
	{"place of 00000000ffffffff in 7 blocks of 1000 buckets, f 17",
		"code 0000000000000001, block at 0, buckets 0 and 317, fingerprin"
		"t 1"},
	{"place of 0000000100000000 in 7 blocks of 1000 buckets, f 17",
		"code 0000000000000001, block at 0, buckets 0 and 317, fingerprin"
		"t 1"},
	{"place of 8000000080000000 in 7 blocks of 1000 buckets, f 17",
		"code 000000000dac0001, block at 3000, buckets 500 and 817, finge"
		"rprint 1"},
	{"place of ffffffffffffffff in 7 blocks of 1000 buckets, f 17",
		"code 000000001b57ffff, block at 6000, buckets 998 and 29, finger"
		"print 131071"},
	{"place of a6cd8fc32994760f in 7 blocks of 1000 buckets, f 17",
		"code 0000000011d104d3, block at 4000, buckets 560 and 341, finge"
		"rprint 66771"},
	{"place of 6c08fb3a7bd674b1 in 7 blocks of 1000 buckets, f 17",
		"code 000000000b8a1596, block at 2000, buckets 954 and 127, finge"
		"rprint 5526"},
	{"place of 0000000000000000 in 100 blocks of 32768 buckets, f 18",
		"code 0000000000000001, block at 0, buckets 0 and 10407, fingerpr"
		"int 1"},
	{"place of 0000000000000001 in 100 blocks of 32768 buckets, f 18",
		"code 0000000000000001, block at 0, buckets 0 and 10407, fingerpr"
		"int 1"},
	{"place of 00000000ffffffff in 100 blocks of 32768 buckets, f 18",
		"code 0000000000000064, block at 0, buckets 0 and 32487, fingerpr"
		"int 100"},
	{"place of 0000000100000000 in 100 blocks of 32768 buckets, f 18",
		"code 0000000000000064, block at 0, buckets 0 and 32487, fingerpr"
		"int 100"},
	{"place of 8000000080000000 in 100 blocks of 32768 buckets, f 18",
		"code 0000003200000032, block at 1638400, buckets 0 and 32627, fi"
		"ngerprint 50"},
	{"place of ffffffffffffffff in 100 blocks of 32768 buckets, f 18",
		"code 00000063ffffffff, block at 3244032, buckets 32766 and 16383"
		", fingerprint 262143"},
	{"place of a6cd8fc32994760f in 100 blocks of 32768 buckets, f 18",
		"code 00000041284c283d, block at 2129920, buckets 5158 and 12293,"
		" fingerprint 10301"},
	{"place of 6c08fb3a7bd674b1 in 100 blocks of 32768 buckets, f 18",
		"code 0000002a338222d8, block at 1376256, buckets 6592 and 15179,"
		" fingerprint 139992"},
	{"place of 0000000000000000 in 12000 blocks of 32768 buckets, f 32",
		"code 0000000000000001, block at 0, buckets 0 and 10407, fingerpr"
		"int 1"},
	{"place of 0000000000000001 in 12000 blocks of 32768 buckets, f 32",
		"code 0000000000000001, block at 0, buckets 0 and 10407, fingerpr"
		"int 1"},
	{"place of 00000000ffffffff in 12000 blocks of 32768 buckets, f 32",
		"code 000000000bb7ffff, block at 0, buckets 0 and 4435, fingerpri"
		"nt 196607999"},
	{"place of 0000000100000000 in 12000 blocks of 32768 buckets, f 32",
		"code 000000000bb80000, block at 0, buckets 0 and 23347, fingerpr"
		"int 196608000"},
	{"place of 8000000080000000 in 12000 blocks of 32768 buckets, f 32",
		"code 05dc000005dc0000, block at 196608000, buckets 0 and 2563, f"
		"ingerprint 98304000"},
	{"place of ffffffffffffffff in 12000 blocks of 32768 buckets, f 32",
		"code 0bb7ffffffffffff, block at 393183232, buckets 32766 and 166"
		"35, fingerprint 4294967295"},
	{"place of a6cd8fc32994760f in 12000 blocks of 32768 buckets, f 32",
		"code 07a2b8ecb70f43c7, block at 256180224, buckets 29144 and 172"
		"67, fingerprint 3071230919"},
	{"place of 6c08fb3a7bd674b1 in 12000 blocks of 32768 buckets, f 32",
		"code 04f20940155b3927, block at 165937152, buckets 4736 and 1064"
		"5, fingerprint 358299943"},
	{"bits for the least rate of 7 bits",
		"7 below 8 above 7"},
	{"bits for the least rate of 8 bits",
		"8 below 9 above 8"},
	{"bits for the least rate of 9 bits",
		"9 below 10 above 9"},
	{"bits for the least rate of 10 bits",
		"10 below 11 above 10"},
	{"bits for the least rate of 11 bits",
		"11 below 12 above 11"},
	{"bits for the least rate of 12 bits",
		"12 below 13 above 12"},
	{"bits for the least rate of 13 bits",
		"13 below 14 above 13"},
	{"bits for the least rate of 14 bits",
		"14 below 15 above 14"},
	{"bits for the least rate of 15 bits",
		"15 below 16 above 15"},
	{"bits for the least rate of 16 bits",
		"16 below 17 above 16"},
	{"bits for the least rate of 17 bits",
		"17 below 18 above 17"},
	{"bits for the least rate of 18 bits",
		"18 below 19 above 18"},
	{"bits for the least rate of 19 bits",
		"19 below 20 above 19"},
	{"bits for the least rate of 20 bits",
		"20 below 21 above 20"},
	{"bits for the least rate of 21 bits",
		"21 below 22 above 21"},
	{"bits for the least rate of 22 bits",
		"22 below 23 above 22"},
	{"bits for the least rate of 23 bits",
		"23 below 24 above 23"},
	{"bits for the least rate of 24 bits",
		"24 below 25 above 24"},
	{"bits for the least rate of 25 bits",
		"25 below 26 above 25"},
	{"bits for the least rate of 26 bits",
		"26 below 27 above 26"},
	{"bits for the least rate of 27 bits",
		"27 below 28 above 27"},
	{"bits for the least rate of 28 bits",
		"28 below 29 above 28"},
	{"bits for the least rate of 29 bits",
		"29 below 30 above 29"},
	{"shape for 0 keys",
		"1 blocks of 6, capacity 22, rate at it 8.949455327e-04"},
	{"shape for 1 keys",
		"1 blocks of 6, capacity 22, rate at it 8.949455327e-04"},
	{"shape for 33 keys",
		"1 blocks of 14, capacity 53, rate at it 9.239887778e-04"},
	{"shape for 100 keys",
		"1 blocks of 32, capacity 122, rate at it 9.305233916e-04"},
	{"shape for 4999 keys",
		"1 blocks of 1310, capacity 5017, rate at it 9.347367815e-04"},
	{"shape for 5000 keys",
		"1 blocks of 1306, capacity 5001, rate at it 9.346095883e-04"},
	{"shape for 9999 keys",
		"1 blocks of 2612, capacity 10082, rate at it 9.420814476e-04"},
	{"shape for 10000 keys",
		"1 blocks of 2592, capacity 10005, rate at it 9.421000407e-04"},
	{"shape for 126484 keys",
		"1 blocks of 32768, capacity 126484, rate at it 9.421077613e-04"},
	{"shape for 126485 keys",
		"2 blocks of 16386, capacity 126499, rate at it 9.421044864e-04"},
	{"shape for 131073 keys",
		"2 blocks of 16980, capacity 131085, rate at it 9.421070247e-04"},
	{"shape for 1000003 keys",
		"8 blocks of 32384, capacity 1000017, rate at it 9.421104686e-04"},
	{"shape for 1048576 keys",
		"9 blocks of 30184, capacity 1048592, rate at it 9.421111912e-04"},
	{"shape for 33554432 keys",
		"266 blocks of 32680, capacity 33554516, rate at it 9.421113125e-"
		"04"},
	{"shape for 100000000 keys",
		"791 blocks of 32752, capacity 100000371, rate at it 9.421113300e"
		"-04"},
	{"shape for 1073741824 keys",
		"8490 blocks of 32766, capacity 1073787692, rate at it 9.42111334"
		"6e-04"},
	{"shape for 1517813760 keys",
		"12000 blocks of 32768, capacity 1517813760, rate at it 9.4211133"
		"49e-04"},
	{"multisets",
		"8192 bytes, 3729a0d8dc6a6d1c"},
	{"two buckets, f 5",
		"fae5d48c0000000000000000"},
	{"two buckets, f 6",
		"fac5bfc1d00000000000000000"},
	{"two buckets, f 13",
		"fa05e0fdd969d40c0080aaff0000000000000000"},
	{"two buckets, f 16",
		"fa0500ef7d56d3b2c100000055f5ff0000000000000000"},
	{"two buckets, f 17",
		"fa0500dedb599916d40c000080aafaff0000000000000000"},
	{"two buckets, f 18",
		"fa0500bc3767c5b4b8c10000005055fdff0000000000000000"},
	{"two buckets, f 25",
		"fa050000de9bd759d198168fd40c0000000080aaaafaffff0000000000000000"},
	{"two buckets, f 32",
		"fa05000000efcdab79563412d3e2f1b0c100000000000000555555f5ffffff00"
		"00000000000000"},
	{"sparse of 0 keys, f 8, capacity 0",
		"010001000000000066a59499336faf3f00000000000000000000000000000000"
		"010000000900000000000000e875080000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 8, capacity 0",
		"010001000000000066a59499336faf3f00000000000000000000000000000000"
		"010000000900000000000000e875080000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 8, capacity 0",
		"010001000000000066a59499336faf3f00000000000000000000000000000000"
		"010000000900000000000000e875080000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 13, capacity 0",
		"01000100000000008aeae65648325f3f00000000000000000000000000000000"
		"010000000900000000000000e8750d0000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 13, capacity 0",
		"01000100000000008aeae65648325f3f00000000000000000000000000000000"
		"010000000900000000000000e8750d0000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 13, capacity 0",
		"01000100000000008aeae65648325f3f00000000000000000000000000000000"
		"010000000900000000000000e8750d0000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 18, capacity 0",
		"010001000000000066e193ca64300f3f00000000000000000000000000000000"
		"010000000900000000000000e875120000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 18, capacity 0",
		"010001000000000066e193ca64300f3f00000000000000000000000000000000"
		"010000000900000000000000e875120000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 18, capacity 0",
		"010001000000000066e193ca64300f3f00000000000000000000000000000000"
		"010000000900000000000000e875120000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 19, capacity 0",
		"0100010000000000babb78fe5c30ff3e00000000000000000000000000000000"
		"010000000900000000000000e875130000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 19, capacity 0",
		"0100010000000000babb78fe5c30ff3e00000000000000000000000000000000"
		"010000000900000000000000e875130000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 19, capacity 0",
		"0100010000000000babb78fe5c30ff3e00000000000000000000000000000000"
		"010000000900000000000000e875130000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 24, capacity 0",
		"0100010000000000fd26c2705530af3e00000000000000000000000000000000"
		"010000000900000000000000e875180000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 24, capacity 0",
		"0100010000000000fd26c2705530af3e00000000000000000000000000000000"
		"010000000900000000000000e875180000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 24, capacity 0",
		"0100010000000000fd26c2705530af3e00000000000000000000000000000000"
		"010000000900000000000000e875180000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 29, capacity 0",
		"01000100000000006f81543455305f3e00000000000000000000000000000000"
		"010000000900000000000000e8751d0000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 29, capacity 0",
		"01000100000000006f81543455305f3e00000000000000000000000000000000"
		"010000000900000000000000e8751d0000000000000000000000000000000000"
		"00"},
	{"sparse of 0 keys, f 29, capacity 0",
		"01000100000000006f81543455305f3e00000000000000000000000000000000"
		"010000000900000000000000e8751d0000000000000000000000000000000000"
		"00"},
	{"sparse of 1 keys, f 7, capacity 1",
		"010001000000000066a59499336faf3f01000000000000000000000000000000"
		"0100000001000000010000000600070000000000010000003502000000000000"
		"0000"},
	{"sparse of 1 keys, f 7, capacity 2",
		"010001000000000066a59499336faf3f02000000000000000000000000000000"
		"0100000001000000010000000600070000000000010000003502000000000000"
		"0000"},
	{"sparse of 1 keys, f 7, capacity 30",
		"010001000000000066a59499336faf3f1e000000000000000000000000000000"
		"0100000001000000010000000c00070000000000010000006904000000000000"
		"0000"},
	{"sparse of 1 keys, f 12, capacity 1",
		"01000100000000008aeae65648325f3f01000000000000000000000000000000"
		"01000000010000000100000006000c0000000000010000008946000000000000"
		"0000"},
	{"sparse of 1 keys, f 12, capacity 2",
		"01000100000000008aeae65648325f3f02000000000000000000000000000000"
		"01000000010000000100000006000c0000000000010000008946000000000000"
		"0000"},
	{"sparse of 1 keys, f 12, capacity 30",
		"01000100000000008aeae65648325f3f1e000000000000000000000000000000"
		"0100000001000000010000000c000c0000000000010000000d8d000000000000"
		"000000"},
	{"sparse of 1 keys, f 17, capacity 1",
		"010001000000000066e193ca64300f3f01000000000000000000000000000000"
		"010000000100000001000000060011000000000001000000b5d0080000000000"
		"000000"},
	{"sparse of 1 keys, f 17, capacity 2",
		"010001000000000066e193ca64300f3f02000000000000000000000000000000"
		"010000000100000001000000060011000000000001000000b5d0080000000000"
		"000000"},
	{"sparse of 1 keys, f 17, capacity 30",
		"010001000000000066e193ca64300f3f1e000000000000000000000000000000"
		"0100000001000000010000000c001100000000000100000065a1110000000000"
		"000000"},
	{"sparse of 1 keys, f 18, capacity 1",
		"0100010000000000babb78fe5c30ff3e01000000000000000000000000000000"
		"01000000010000000100000006001200000000000100000065a1110000000000"
		"000000"},
	{"sparse of 1 keys, f 18, capacity 2",
		"0100010000000000babb78fe5c30ff3e02000000000000000000000000000000"
		"01000000010000000100000006001200000000000100000065a1110000000000"
		"000000"},
	{"sparse of 1 keys, f 18, capacity 30",
		"0100010000000000babb78fe5c30ff3e1e000000000000000000000000000000"
		"0100000001000000010000000c0012000000000001000000c542230000000000"
		"000000"},
	{"sparse of 1 keys, f 23, capacity 1",
		"0100010000000000fd26c2705530af3e01000000000000000000000000000000"
		"010000000100000001000000060017000000000001000000512c340200000000"
		"00000000"},
	{"sparse of 1 keys, f 23, capacity 2",
		"0100010000000000fd26c2705530af3e02000000000000000000000000000000"
		"010000000100000001000000060017000000000001000000512c340200000000"
		"00000000"},
	{"sparse of 1 keys, f 23, capacity 30",
		"0100010000000000fd26c2705530af3e1e000000000000000000000000000000"
		"0100000001000000010000000c00170000000000010000009d58680400000000"
		"00000000"},
	{"sparse of 1 keys, f 28, capacity 1",
		"01000100000000006f81543455305f3e01000000000000000000000000000000"
		"01000000010000000100000006001c000000000001000000a189854600000000"
		"00000000"},
	{"sparse of 1 keys, f 28, capacity 2",
		"01000100000000006f81543455305f3e02000000000000000000000000000000"
		"01000000010000000100000006001c000000000001000000a189854600000000"
		"00000000"},
	{"sparse of 1 keys, f 28, capacity 30",
		"01000100000000006f81543455305f3e1e000000000000000000000000000000"
		"0100000001000000010000000c001c00000000000100000041130b8d00000000"
		"0000000000"},
	{"sparse of 20 keys, f 7, capacity 20",
		"010001000000000066a59499336faf3f14000000000000000000000000000000"
		"0100000001000000140000000a0007000000000014000000aa6cbbc81abb86bb"
		"2e59ad9bcb3db2794f0a0000000000000000"},
	{"sparse of 20 keys, f 7, capacity 40",
		"010001000000000066a59499336faf3f28000000000000000000000000000000"
		"0100000001000000140000001000070000000000140000005a5e2f59f3255c5c"
		"642dde1e559cc7e6987ac4010000000000000000"},
	{"sparse of 20 keys, f 7, capacity 600",
		"010001000000000066a59499336faf3f58020000000000000000000000000000"
		"010000000100000014000000a20007000000000014000000aa6c3bc91c82ab6d"
		"81d8da683ae0f2f59fb43abf8a68c4fb67c8ec1a0000000000000000"},
	{"sparse of 20 keys, f 12, capacity 20",
		"01000100000000008aeae65648325f3f14000000000000000000000000000000"
		"0100000001000000140000000a000c000000000014000000aa6cbbc81a6bcb3a"
		"03b55cbdeb885887290e8bb6761faf8faf316b0de59e0000000000000000"},
	{"sparse of 20 keys, f 12, capacity 40",
		"01000100000000008aeae65648325f3f28000000000000000000000000000000"
		"01000000010000001400000010000c0000000000140000005a5e2f59e3bd8e14"
		"cec393b8186c075e5a6ec82ac52267f030c9c851e101a2180000000000000000"},
	{"sparse of 20 keys, f 12, capacity 600",
		"01000100000000008aeae65648325f3f58020000000000000000000000000000"
		"010000000100000014000000a2000c000000000014000000aa6c3bc91c4e70a3"
		"56b4c88799b527fad229e0463edadf490aab79fe9e824693c3717f8901610eae"
		"010000000000000000"},
	{"sparse of 20 keys, f 17, capacity 20",
		"010001000000000066e193ca64300f3f14000000000000000000000000000000"
		"0100000001000000140000000a0011000000000014000000aa6cbbc81a56ed22"
		"eb98414d3bb7c2ee0a479258dfb099387ce5660bebb6c7df7c96af2ae699757c"
		"32ea090000000000000000"},
	{"sparse of 20 keys, f 17, capacity 40",
		"010001000000000066e193ca64300f3f28000000000000000000000000000000"
		"0100000001000000140000001000110000000000140000005a5e2f59d3bb373a"
		"e209b73d2c25312f46606b077e494bb8c1644552cc44be188c8599c778371a85"
		"87fe2088010000000000000000"},
	{"sparse of 20 keys, f 17, capacity 600",
		"010001000000000066e193ca64300f3f58020000000000000000000000000000"
		"010000000100000014000000a20011000000000014000000aa6c3bc91cb609ae"
		"8c5a215a447cb82f6bdc8956970e2be0f4c8d769ffdf243db03af0fc9ba7d833"
		"9a92c323ee5f238682308fe01a0000000000000000"},
	{"sparse of 20 keys, f 18, capacity 20",
		"0100010000000000babb78fe5c30ff3e14000000000000000000000000000000"
		"0100000001000000140000000a0012000000000014000000aa6cbbc81aacda8b"
		"acc60cd3b4e656b0bb85239358bd6166e2df2b6db65fddedf16e3e97af54cc66"
		"d6e193a29e0000000000000000"},
	{"sparse of 20 keys, f 18, capacity 40",
		"0100010000000000babb78fe5c30ff3e28000000000000000000000000000000"
		"0100000001000000140000001000120000000000140000005a5e2f59a377afe8"
		"484fb8dbc3a424cc8b21b06507ee9236e1c6252b24c598c82b06c3c294c7d86e"
		"5414def30782180000000000000000"},
	{"sparse of 20 keys, f 18, capacity 600",
		"0100010000000000babb78fe5c30ff3e58020000000000000000000000000000"
		"010000000100000014000000a20012000000000014000000aa6c3bc91c6c137c"
		"326a09d142c487f7650d77a2ab4b072be0e6914fa7fdfd26a903ab059effe629"
		"ec198d92c345dc3f8d181284d908ae010000000000000000"},
	{"sparse of 20 keys, f 23, capacity 20",
		"0100010000000000fd26c2705530af3e14000000000000000000000000000000"
		"0100000001000000140000000a0017000000000014000000aa6cbbc81a8e55db"
		"2ab2e262062b4ddbccadeeeb2e2a1ca993589d378c96895bef15d466fbbdba4f"
		"7b7c70f35997af8a8a5995597ff04926ea090000000000000000"},
	{"sparse of 20 keys, f 23, capacity 40",
		"0100010000000000fd26c2705530af3e28000000000000000000000000000000"
		"0100000001000000140000001000170000000000140000005a5e2f5993f4ee2d"
		"a2238e27dcbb3dbc4749f8f2620d812d62077e5cd27e841bf092554352ec2f91"
		"9b8ac10116a691c7a8da8d0a5178cbf9431e88010000000000000000"},
	{"sparse of 20 keys, f 23, capacity 600",
		"0100010000000000fd26c2705530af3e58020000000000000000000000000000"
		"010000000100000014000000a20017000000000014000000aa6c3bc91c8e6d82"
		"e3c9a8cd8368c1437cb8ebcbdac09d68565d3a072be0fa3cf2619df61f7e9334"
		"3ab07a0a3cbfb3798a65cf688692c3b588fb7734621009c29c8ce01a00000000"
		"00000000"},
	{"sparse of 20 keys, f 28, capacity 20",
		"01000100000000006f81543455305f3e14000000000000000000000000000000"
		"0100000001000000140000000a001c000000000014000000aa6cbbc81abbb16a"
		"37abc8fa703103afd2b49c995b59fbba5b51e148ab935889f386a959269eacf7"
		"8a406db6e67b75cfd31e7f819b8f5e97af4a5131a754660d3df8e45ca29e0000"
		"000000000000"},
	{"sparse of 20 keys, f 28, capacity 40",
		"01000100000000006f81543455305f3e28000000000000000000000000000000"
		"01000000010000001400000010001c0000000000140000005a5e2f59b392debd"
		"a4888ec8c6132ebfdbc35f8f92e8bdbcd86e086c296207be8d4b5aee116e3c78"
		"c98a3324c5d65f22c7a5623009b0308991c73854bb512044e139e5fcc1e38118"
		"0000000000000000"},
	{"sparse of 20 keys, f 28, capacity 600",
		"01000100000000006f81543455305f3e58020000000000000000000000000000"
		"010000000100000014000000a2001c000000000014000000aa6c3bc91ca4b14d"
		"707f27a3d6e441b4e83bc4874fd797352f70279ab0ead2a1072be0589f47be89"
		"75dadf0abf49a2a203abc114787ee36c9ea22d7b46f38592c3931671ffc6d188"
		"0186046186c808ae010000000000000000"},
	{"dense of 1000 keys, f 7, capacity 1000",
		"854 bytes, fa09f203661af9b0"},
	{"sparse of 1000 keys, f 7, capacity 2000",
		"1010 bytes, e3ae7a2b2856dc2f"},
	{"sparse of 1000 keys, f 7, capacity 30000",
		"1496 bytes, 08846be28facb87e"},
	{"dense of 1000 keys, f 12, capacity 1000",
		"1519 bytes, 3c3f43d09528d3e5"},
	{"sparse of 1000 keys, f 12, capacity 2000",
		"1635 bytes, c17af8359a76e9b2"},
	{"sparse of 1000 keys, f 12, capacity 30000",
		"2121 bytes, c9b5997ba26d40fb"},
	{"dense of 1000 keys, f 17, capacity 1000",
		"2184 bytes, c406843f8f3a9e7c"},
	{"sparse of 1000 keys, f 17, capacity 2000",
		"2260 bytes, cc509940efa2262a"},
	{"sparse of 1000 keys, f 17, capacity 30000",
		"2746 bytes, 3d9b0fad5c7c8d0d"},
	{"dense of 1000 keys, f 18, capacity 1000",
		"2317 bytes, 3d6f79c431c815ab"},
	{"sparse of 1000 keys, f 18, capacity 2000",
		"2385 bytes, 181c4cc4b6e55cbf"},
	{"sparse of 1000 keys, f 18, capacity 30000",
		"2871 bytes, d9b35b2c425d6ef9"},
	{"dense of 1000 keys, f 23, capacity 1000",
		"2982 bytes, 19d65b8a32342bb2"},
	{"sparse of 1000 keys, f 23, capacity 2000",
		"3010 bytes, 98a80f3640d9ffae"},
	{"sparse of 1000 keys, f 23, capacity 30000",
		"3496 bytes, d1e8bd6b37977635"},
	{"dense of 1000 keys, f 28, capacity 1000",
		"3647 bytes, 7c0113b50ce162a7"},
	{"sparse of 1000 keys, f 28, capacity 2000",
		"3635 bytes, 4171e32f21bd7e18"},
	{"sparse of 1000 keys, f 28, capacity 30000",
		"4121 bytes, 03a99a1d599c107f"},
	{"dense of 10000 keys, f 7, capacity 10000",
		"7832 bytes, bb88c3e0bd79e155"},
	{"sparse of 10000 keys, f 7, capacity 20000",
		"9504 bytes, f4e08172458a7f53"},
	{"sparse of 10000 keys, f 7, capacity 300000",
		"14383 bytes, f031f475859b3708"},
	{"dense of 10000 keys, f 12, capacity 10000",
		"14312 bytes, 39b6db1833569289"},
	{"sparse of 10000 keys, f 12, capacity 20000",
		"15754 bytes, 23d1b598c3535a07"},
	{"sparse of 10000 keys, f 12, capacity 300000",
		"20633 bytes, 71b2eaf11519b089"},
	{"dense of 10000 keys, f 17, capacity 10000",
		"20792 bytes, fa41261ad46da997"},
	{"sparse of 10000 keys, f 17, capacity 20000",
		"22004 bytes, c16a021b9ddd64b0"},
	{"sparse of 10000 keys, f 17, capacity 300000",
		"26883 bytes, ccf75ea1ed5881f0"},
	{"dense of 10000 keys, f 18, capacity 10000",
		"22088 bytes, 9a2dbda4ee4bedc1"},
	{"sparse of 10000 keys, f 18, capacity 20000",
		"23254 bytes, 988c064a0cfaa86b"},
	{"sparse of 10000 keys, f 18, capacity 300000",
		"28133 bytes, 7085a23d5fa75b43"},
	{"dense of 10000 keys, f 23, capacity 10000",
		"28568 bytes, 45a4a100d59300c8"},
	{"sparse of 10000 keys, f 23, capacity 20000",
		"29504 bytes, d27222d145da2f6e"},
	{"sparse of 10000 keys, f 23, capacity 300000",
		"34383 bytes, 29477adbdb6e17e7"},
	{"dense of 10000 keys, f 28, capacity 10000",
		"35048 bytes, 2f6ecfa3ebde9ba1"},
	{"sparse of 10000 keys, f 28, capacity 20000",
		"35754 bytes, b02aead9979f6d8e"},
	{"sparse of 10000 keys, f 28, capacity 300000",
		"40633 bytes, 0af1f5bc35c363fb"},
	{"dense of 131073 keys, f 7, capacity 131073",
		"101936 bytes, 47be7ac73034bf78"},
	{"sparse of 131073 keys, f 7, capacity 262146",
		"123836 bytes, 9f3dd8fd8d6d5b04"},
	{"sparse of 131073 keys, f 7, capacity 3932190",
		"187780 bytes, d3d125003c52600b"},
	{"dense of 131073 keys, f 12, capacity 131073",
		"186836 bytes, 0b68ebbb86995bfc"},
	{"sparse of 131073 keys, f 12, capacity 262146",
		"205756 bytes, 29a52242e742e5c2"},
	{"sparse of 131073 keys, f 12, capacity 3932190",
		"269700 bytes, 3aa6e7308c3631e7"},
	{"dense of 131073 keys, f 17, capacity 131073",
		"271736 bytes, 708e53e5ba5a1d72"},
	{"sparse of 131073 keys, f 17, capacity 262146",
		"287677 bytes, 8a1bbefe55c66a44"},
	{"sparse of 131073 keys, f 17, capacity 3932190",
		"351621 bytes, 362a46870f53fb2f"},
	{"dense of 131073 keys, f 18, capacity 131073",
		"288716 bytes, 3375b4d873c74643"},
	{"sparse of 131073 keys, f 18, capacity 262146",
		"304061 bytes, bca422300ddfc824"},
	{"sparse of 131073 keys, f 18, capacity 3932190",
		"368005 bytes, e751f228e4230deb"},
	{"dense of 131073 keys, f 23, capacity 131073",
		"373616 bytes, 5ed829f7bcaeeacd"},
	{"sparse of 131073 keys, f 23, capacity 262146",
		"385982 bytes, b07d5fcce27cb362"},
	{"sparse of 131073 keys, f 23, capacity 3932190",
		"449926 bytes, 82bf2fca0c947bb5"},
	{"dense of 131073 keys, f 28, capacity 131073",
		"458516 bytes, b0fb72bddecd200f"},
	{"sparse of 131073 keys, f 28, capacity 262146",
		"467902 bytes, 001f46fa11d81ea4"},
	{"sparse of 131073 keys, f 28, capacity 3932190",
		"531846 bytes, d6793da51a48af8c"},
	{"sparse table of 40 codes, f 5",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020005000000000028000000ce39e79c73ce01f0"
		"7d0000000000000000"},
	{"sparse table of 40 codes, f 6",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020006000000000028000000e79c73ce39e700e0"
		"7fffffff3ff80000000000000000"},
	{"sparse table of 40 codes, f 7",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020007000000000028000000e71ce79ce39c03e0"
		"7f95fa0395fa0395aaeaff0000000000000000"},
	{"sparse table of 40 codes, f 8",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020008000000000028000000e79ce39c739c03e0"
		"7f49b6b5fd9f645bdbff49b6d9b6ffff0000000000000000"},
	{"sparse table of 40 codes, f 9",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020009000000000028000000e79ce39c739c03e0"
		"7f11515599d9dd11515599d9dd115155eeeefeffff0000000000000000"},
	{"sparse table of 40 codes, f 10",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002000a000000000028000000e79ce39ce39c03e0"
		"7f2104a5d49c93735e4a71cedd7b0100292529a5f7defbffffff000000000000"
		"0000"},
	{"sparse table of 40 codes, f 11",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002000b000000000028000000e79ce39c739c03e0"
		"7f41104cd35496e57ddf49926cdbd6b6edffff51148de3e8fbbeefffffffff00"
		"00000000000000"},
	{"sparse table of 40 codes, f 12",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002000c000000000028000000e79ce39c739c03e0"
		"7f8140a0542a2593c976bb1d89446ab55a369bedf7fba150a8582cfafd7ebfff"
		"ffffffff0000000000000000"},
	{"sparse table of 40 codes, f 13",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002000d000000000028000000e79ce39ce39c03e0"
		"7f0101014a4a4a939393dcdcdc2525256e6e6eb7b7b7000000494949929292fe"
		"fefefefeffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 14",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002000e000000000028000000e79ce39c739c03e0"
		"7f01020498346952c992256fdfbe9d2449926ddbb6b56ddbf6ffffff9122451a"
		"3972a47ffffefdfbffffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 15",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002000f000000000028000000e79ce39c739c03e0"
		"7f0104104049259594649249b6dd76db914412496db5d5966db6d9f6df7fff21"
		"851452914516e9bffffefbefffffffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 16",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020010000000000028000000e79ce39ce39c03e0"
		"7f0108400094a424254d729293e436b7b95d929294c46d6e73db6d6f7b5b0000"
		"0000494a529224294949fadffffef7bfffffffffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 17",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020011000000000028000000e79ce39c739c03e0"
		"7f0110000130499334492559922579dbb77ddb49922449b26ddbb66d6ddbb66d"
		"fbffffffff911449913492233992feeffffeeffffeffffffffffffffff000000"
		"0000000000"},
	{"sparse table of 40 codes, f 18",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020012000000000028000000e79ce39c739c03e0"
		"7f01200004809254924a52924c9249b26db7edb61d49224924a96db5adb665db"
		"6c9b6dfb7fffefff21292485a42259248ba4fff7fffedffffbffffffffffffff"
		"ffff0000000000000000"},
	{"sparse table of 40 codes, f 19",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020013000000000028000000e79ce39ce39c03e0"
		"7f014000100028494a929234494e929324b7cd6d73db2549495292b86d6e9bdb"
		"76dbdeb6b72d00000000004952929424499292a424e9fffbfffebfffefffffff"
		"ffffffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 20",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020014000000000028000000e79ce39c739c03e0"
		"7f0180004000609234499a2495244b9225c9dbf66dfbb69d2449922449b66ddb"
		"b66d5bdbb66ddbb6fdffffffffff91a4485224692439921c49fafffdfffe7fff"
		"bfffffffffffffffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 21",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020015000000000028000000e79ce39c739c03e0"
		"7f0100010001002549254925494992499249926ddb6ddb6ddb912491249124b5"
		"6db56db56dd9b6d9b6d9b6fdfffdfffdff214921492149459245924592fefffe"
		"fffefffefffeffffffffffffffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 22",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020016000000000028000000e79ce39ce39c03e0"
		"7f0100020004005092a4244949d224c949929324b96d73dbe6b65d92a4244949"
		"12b76d6edbdcb6ddb6bd6d7bdb16000000000000499292242549922429495292"
		"a4ff7ffffffefffdfffbffffffffffffffffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 23",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020017000000000028000000e79ce39c739c03e0"
		"7f010004001000c0244993244d9254926449922549deb67ddbf66ddb49922449"
		"9224c9b66ddbb66ddbd6b66ddbb66ddbfeffffffffffff912445921449d24892"
		"23498e24e9ffbffffffefffbffefffffffffffffffffffffffffff0000000000"
		"000000"},
	{"sparse table of 40 codes, f 24",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020018000000000028000000e79ce39c739c03e0"
		"7f010008004000004a925492a49224254932499249926cdb76dbb6dbb61d4992"
		"48924492a4b66db56dab6d5bb66db36d9b6ddbfefff7ffbfffff21490a495248"
		"928a245924c92249faffdffffffefff7ffbfffffffffffffffffffffffffffff"
		"0000000000000000"},
	{"sparse table of 40 codes, f 25",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"010000000100000028000000020019000000000028000000e79ce39ce39c03e0"
		"7f01001000000100a024494a92a4244993243949929324c96ddbdcb6cd6ddb25"
		"495292242549e2b66d6edbe6b66db76d7bdbb6b76d0b00000000000000499294"
		"244949922449929224294992feffeffffffeffeffffffeffffffffffffffffff"
		"ffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 26",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002001a000000000028000000e79ce39c739c03e0"
		"7f0100200000040080499234499226495249922c49922549f2b66ddfb6eddbb6"
		"9d24499224499224d9b66ddbb66ddbb6b56ddbb66ddbb66dffffffffffffffff"
		"91242992244592a491243992244792a4fffff7fffffeffdffffffbffffffffff"
		"ffffffffffffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 27",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002001b000000000028000000e79ce39c739c03e0"
		"7f01004000001000009424492549524992942449264992499264dbb6ddb66db7"
		"6ddb9124492449124992d4b66db56d5b6ddb966ddb66dbb6d9b66dffffdfffff"
		"f7ffff21495248921492241549924592649124e9fffffbfffffeffbfffffefff"
		"ffffffffffffffffffffffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 28",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002001c000000000028000000e79ce39ce39c03e0"
		"7f0100800000400000404992a424495292244d92242749929324496edb36b76d"
		"9bdbb65d9224294992942449dcb66d6edb36b76ddb6ddbf6b66d7bdbb6050000"
		"0000000000004992a42449529224499224294992942449fafffffdfffffeff7f"
		"ffffbfffffffffffffffffffffffffffffffffff0000000000000000"},
	{"sparse table of 40 codes, f 29",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002001d000000000028000000e79ce39c739c03e0"
		"7f010000010000010000932449932449932449254992254992254992b76ddbb7"
		"6ddbb76ddb499224499224499224dbb66ddbb66ddbb66d6ddbb66ddbb66ddbb6"
		"ffffffffffffffffff912449912449912449234992234992234992fefffffeff"
		"fffefffffefffffeffffffffffffffffffffffffffffffffff00000000000000"
		"00"},
	{"sparse table of 40 codes, f 30",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002001e000000000028000000e79ce39c739c03e0"
		"7f010000020000040000284992549224a92449529224c9244992499224dbb66d"
		"b76ddb6edbb61d499224922449244992dab66db56ddb6adbb665dbb6cdb66d9b"
		"6ddbb6ffff7ffffffffeffff2149924292248524492a9224592449b24892a4ff"
		"ff7ffffffffefffffdfffffbffffffffffffffffffffffffffffffffffff0000"
		"000000000000"},
	{"sparse table of 40 codes, f 31",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000010000002800000002001f000000000028000000e79ce39ce39c03e0"
		"7f010000040000100000809224494a9224294992344992e424499293244972db"
		"b6cd6ddb36b76ddb25499294244952922489dbb66d6edbb6b96ddb76dbb6ed6d"
		"dbb6b76ddb02000000000000000000499224254992942449922449929224494a"
		"9224e9ffffbffffffffefffffbffffefffffffffffffffffffffffffffffffff"
		"ffffff0000000000000000"},
	{"sparse table of 40 codes, f 32",
		"0100010000000000fca9f1d24d62503f64000000000000000000000000000000"
		"01000000e02e000028000000008020000000000028000000c771388ec3711c0e"
		"00f0bf0000000000002000000000000008000000000000264992244992ac4992"
		"244992246b9224499224c92a4992244992644b9224499224d9922449922449f6"
		"b66ddbb66d5bb86ddbb66ddb166edbb66ddbb6852449922449922c4992244992"
		"244b9224499224c9b66ddbb66ddbde6ddbb66ddbb677dbb66ddbb6ed6ddbb66d"
		"dbb62ddab66ddbb66d8bb66ddbb66ddbe2ffffffffff7ffbffffffffffdffeff"
		"ffffffffb7489224499224399224499224498e24499224499247922449922491"
		"91244992244964244992244912f1ffffffffffbffdffffffffff6fffffffffff"
		"ffdbfffffffffffff6ffffffffffbfffffffffffffeffffffffffffffbffffff"
		"fffffffeffffffffffbfffffffffffff6f0000000000000000"},
	{"filter of 0 keys, fpr 0.001, capacity 0",
		"0100010000000000fca9f1d24d62503f00000000000000000000000000000000"
		"01000000090000000b000000e8750e00000000000b000000e0fe91729d4d29d7"
		"d994729d4d91f1301d190fd391f1301d190fd391f1301d190fd391f1301d190f"
		"d30000000000000000"},
	{"filter of 0 keys, fpr 0.001, capacity 0",
		"1 tables, 11 items, rate 4.943370956e-09"},
	{"filter of 5 keys, fpr 0.1, capacity 0",
		"01000100000000009a9999999999b93f00000000000000000000000000000000"
		"01000000090000000e000000e8750800000000000e00000000bcfc93aeb3d975"
		"36bbce66d7d91cffe6c6c3d478981a0f53e3616a3c4c8d87a9f130351ea62f94"
		"000000000000000000"},
	{"filter of 5 keys, fpr 0.1, capacity 0",
		"1 tables, 14 items, rate 4.049966341e-07"},
	{"filter of 22 keys, fpr 0.1, capacity 1",
		"01000100000000009a9999999999b93f01000000000000000000000000000000"
		"020000000100000016000000060007010100000008000000bc00090013b4240c"
		"fddec5040014f7ad13976d28b3ca000000000800000080f33184433884c22aac"
		"c22aacc20a0000000000000000"},
	{"filter of 22 keys, fpr 0.1, capacity 1",
		"2 tables, 30 items, rate 5.648029393e-02"},
	{"filter of 50 keys, fpr 0.03, capacity 40",
		"0100010000000000b81e85eb51b89e3f28000000000000000000000000000000"
		"010000000100000034000000100009012a74d83ad502408ef7990d037c873931"
		"e2e3d6e6a90540bcd200c0be1b27a5944f4dd61b5000e4d345a9c618020000a9"
		"1b27a5944a010038ce09c53ad977661b0000000000000000"},
	{"filter of 50 keys, fpr 0.03, capacity 40",
		"1 tables, 52 items, rate 1.265190230e-02"},
	{"filter of 1000 keys, fpr 0.001, capacity 64",
		"1817 bytes, 89d50b2593b46911"},
	{"filter of 1000 keys, fpr 0.001, capacity 64",
		"2 tables, 867 items, rate 9.775352237e-04"},
	{"filter of 10000 keys, fpr 0.001, capacity 10000",
		"15608 bytes, 759a4173fdd39e8f"},
	{"filter of 10000 keys, fpr 0.001, capacity 10000",
		"1 tables, 8581 items, rate 8.080662307e-04"},
	{"filter of 30000 keys, fpr 1e-06, capacity 0",
		"93248 bytes, bdfd2287c4f0d168"},
	{"filter of 30000 keys, fpr 1e-06, capacity 0",
		"1 tables, 25724 items, rate 1.128832060e-08"},
	{"filter of 9000 keys, fpr 2e-08, capacity 100",
		"35246 bytes, b8fb5086c329e3d3"},
	{"filter of 9000 keys, fpr 2e-08, capacity 100",
		"3 tables, 7724 items, rate 1.638902689e-08"},
	{"filter of 200000 keys, fpr 0.01, capacity 0",
		"282688 bytes, a95e93ec04915470"},
	{"filter of 200000 keys, fpr 0.01, capacity 0",
		"1 tables, 171438 items, rate 6.165554309e-04"},
	{"union of nine filters",
		"6335 bytes, e6c856ff5bb25337"},
	{"union of nine filters",
		"6 tables, 2315 items, rate 8.223660842e-04"},
	{"union all of nine filters",
		"6353 bytes, ed57fe9fc91d08ea"},
	{"union all of nine filters",
		"6 tables, 2324 items, rate 8.271896648e-04"},
	{"verdicts on a filter with each bit changed",
		"96000 bytes, 581ad82d021e46fd"},
};
