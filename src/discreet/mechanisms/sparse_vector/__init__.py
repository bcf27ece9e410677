"""The sparse vector technique: of many questions, only those above a threshold are paid for."""
