"""Writes GGUF headers for the tests: no tensor data, standard library only.

Independent of the reader under test: types, sizes and layout follow ggml's docs/gguf.md."""
import struct

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
FORMATS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?",
           U64: "Q", I64: "q", F64: "d"}
# name: (id, elements of a block, bytes of a block)
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20),
         "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24), "Q8_0": (8, 32, 34), "Q2_K": (10, 256, 84),
         "Q3_K": (11, 256, 110), "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176),
         "Q6_K": (14, 256, 210), "IQ2_XXS": (16, 256, 66), "IQ2_XS": (17, 256, 74),
         "IQ3_XXS": (18, 256, 98), "IQ1_S": (19, 256, 50), "IQ4_NL": (20, 32, 18),
         "IQ3_S": (21, 256, 110), "IQ2_S": (22, 256, 82), "IQ4_XS": (23, 256, 136),
         "IQ1_M": (29, 256, 56), "BF16": (30, 1, 2), "TQ1_0": (34, 256, 54),
         "TQ2_0": (35, 256, 66), "MXFP4": (39, 32, 17), "NVFP4": (40, 64, 36),
         "Q1_0": (41, 128, 18), "Q2_0": (42, 64, 18)}


class Value:
    """A metadata value whose type in the file is chosen."""

    def __init__(self, kind, value, element=None):
        self.kind, self.value, self.element = kind, value, element


class File:
    """A GGUF file as lists; every field can be overridden to be wrong."""

    def __init__(self, big_endian=False, version=3, alignment=32):
        self.order = ">" if big_endian else "<"
        self.version, self.alignment = version, alignment
        self.magic = b"GGUF"
        self.values = []   # (key bytes or str, Value)
        self.tensors = []  # [name, dims, type id, offset]
        self.end = 0       # of the data section so far
        self.tensor_count = self.value_count = None
        if alignment != 32:
            self.set("general.alignment", alignment)

    def pack(self, fmt, *values):
        return struct.pack(self.order + fmt, *values)

    def set(self, key, value):
        """A value with the type that llama.cpp's converter would choose."""
        if not isinstance(value, Value):
            if isinstance(value, bool):
                value = Value(BOOL, value)
            elif isinstance(value, int):
                value = Value(U32, value)
            elif isinstance(value, float):
                value = Value(F32, value)
            elif isinstance(value, (str, bytes)):
                value = Value(STRING, value)
            else:
                first = value[0]
                element = BOOL if isinstance(first, bool) else I32 if isinstance(first, int) \
                    else STRING if isinstance(first, (str, bytes)) else F32
                value = Value(ARRAY, value, element)
        self.values.append((key, value))

    def replace(self, key, value):
        """Sets a key that may be there already."""
        self.values = [v for v in self.values if v[0] != key]
        self.set(key, value)

    def drop(self, key):
        before = len(self.values)
        self.values = [v for v in self.values if v[0] != key]
        assert len(self.values) < before, key

    def add(self, name, dims, kind="F32"):
        """A tensor after the ones before it."""
        number, block, size = TYPES[kind]
        elements = 1
        for d in dims:
            elements *= d
        assert dims[0] % block == 0, (name, dims, kind)
        self.tensors.append([name, list(dims), number, self.end])
        nbytes = elements // block * size
        self.end += (nbytes + self.alignment - 1) // self.alignment * self.alignment
        return nbytes

    def string(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        return self.pack("Q", len(data)) + data

    def scalar(self, kind, value):
        return self.string(value) if kind == STRING else self.pack(FORMATS[kind], value)

    def contents(self, value):
        if value.kind != ARRAY:
            return self.scalar(value.kind, value.value)
        if value.element == ARRAY:
            inner = b"".join(self.contents(v) for v in value.value)
        else:
            inner = b"".join(self.scalar(value.element, v) for v in value.value)
        return self.pack("IQ", value.element, len(value.value)) + inner

    def header(self):
        tensors = len(self.tensors) if self.tensor_count is None else self.tensor_count
        values = len(self.values) if self.value_count is None else self.value_count
        return self.magic + self.pack("IQQ", self.version, tensors, values)

    def write_values(self):
        return b"".join(self.string(key) + self.pack("I", value.kind) + self.contents(value)
                        for key, value in self.values)

    def write_tensor(self, tensor):
        name, dims, kind, offset = tensor
        return (self.string(name) + self.pack("I", len(dims)) + self.pack("%dQ" % len(dims), *dims)
                + self.pack("IQ", kind, offset))

    def bytes(self):
        return (self.header() + self.write_values()
                + b"".join(self.write_tensor(t) for t in self.tensors))
